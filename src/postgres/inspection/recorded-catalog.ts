import { readFile } from "node:fs/promises";
import { MIGRATIONS_FOLDER } from "../migration/known-migrations.js";

/** An object of the catalog as the migrations create it. */
export interface RecordedObject {
  readonly definition: string;
  /** The migration that created the object or changed it last. */
  readonly migration: string;
}

/**
 * The file with the catalog that the migrations create. Each object is listed below the last migration that created or
 * changed it.
 */
export const CATALOG_FILE = new URL("catalog.txt", MIGRATIONS_FOLDER);

const SEPARATOR = " := ";

/** Returns the catalog that the migrations of this release create. The keys are the kinds and names of the objects. */
export async function readRecordedCatalog(): Promise<ReadonlyMap<string, RecordedObject>> {
  const recorded = new Map<string, RecordedObject>();
  let migration = "";
  for (const line of (await readFile(CATALOG_FILE, "utf8")).split("\n")) {
    const [name = "", definition] = line.trim().split(SEPARATOR);
    if (definition === undefined) migration = name;
    else recorded.set(name, { definition, migration });
  }
  return recorded;
}
