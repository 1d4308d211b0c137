import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ImportRow_Kind } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { type ColumnMapping, readMapping } from "./column-mapping.js";

/** Maps the name of a file, without extension, to the kind of its rows. Files are imported in this order. */
export const fileNames = {
  locations: ImportRow_Kind.LOCATION,
  practitioners: ImportRow_Kind.PRACTITIONER,
  services: ImportRow_Kind.SERVICE,
  payers: ImportRow_Kind.PAYER,
  contracts: ImportRow_Kind.CONTRACT,
  patients: ImportRow_Kind.PATIENT,
  appointments: ImportRow_Kind.APPOINTMENT,
  "waitlist-entries": ImportRow_Kind.WAITLIST_ENTRY,
} as const;

export type FileName = keyof typeof fileNames;

/** A file of rows. */
export interface SourceFile {
  readonly name: FileName;
  /** The file name with its extension, as errors state it. */
  readonly shownName: string;
  readonly path: string;
  readonly bytes: number;
  /** The columns of a CSV file with the field that each column fills; undefined for an NDJSON file. */
  readonly mapping: ColumnMapping | undefined;
}

const MAPPING = "mapping.json";

/**
 * Returns the files of rows in a folder, in the order of their import. Throws if the folder has no such file, if a kind
 * has both an NDJSON and a CSV file, or if a CSV file has no valid mapping.
 */
export async function findSourceFiles(folder: string): Promise<readonly SourceFile[]> {
  const present = new Set(await readdir(folder));
  const mappings: unknown = present.has(MAPPING) ? JSON.parse(await readFile(join(folder, MAPPING), "utf8")) : {};
  const names = Object.keys(fileNames) as FileName[];
  const shown = names.flatMap((name) => [`${name}.ndjson`, `${name}.csv`].filter((file) => present.has(file)));
  const twice = names.find((name) => present.has(`${name}.ndjson`) && present.has(`${name}.csv`));
  if (twice !== undefined) throw new Error(`${folder} has both ${twice}.ndjson and ${twice}.csv: remove one of them`);
  if (shown.length === 0) throw new Error(`${folder} has no file such as patients.ndjson or patients.csv`);
  return Promise.all(
    shown.map(async (shownName) => {
      const path = join(folder, shownName);
      const name = names.find((each) => shownName.startsWith(`${each}.`)) ?? "patients";
      const mapping = shownName.endsWith(".csv") ? readMapping(mappings, shownName) : undefined;
      return { name, shownName, path, bytes: (await stat(path)).size, mapping };
    }),
  );
}
