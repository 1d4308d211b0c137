import type { ImportRow } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { RowError, SourceRow } from "./source-rows.js";

/** The member of a row that each reference is a reference to. */
const REFERRED: Readonly<Record<string, string>> = {
  patient: "patient",
  practitioner: "practitioner",
  service: "service",
  location: "location",
  payer: "payer",
};

/**
 * The ids of the rows of a dry run that would have been imported. A dry run imports nothing, so the service does not
 * find the rows of earlier batches. Their references are judged here.
 */
export class SeenRows {
  readonly #ids = new Set<string>();

  add({ row }: SourceRow): void {
    this.#ids.add(nameOf(row.resource.case, row.sourceId));
  }

  /** Returns an error if an earlier row has the id of this one. */
  repetition({ row }: SourceRow): RowError | undefined {
    if (!this.#ids.has(nameOf(row.resource.case, row.sourceId))) return undefined;
    const message = "an earlier row has this id for the same kind";
    return { code: "DUPLICATE", field: "sourceId", message };
  }

  /** Returns the errors of a row without those for references to earlier rows. */
  withoutSeen({ row }: SourceRow, errors: readonly RowError[]): RowError[] {
    return errors.filter(({ code, field }) => {
      const [, name = "", target] = field.split(".");
      const kind = REFERRED[name];
      if (code !== "NOT_FOUND" || target !== "sourceId" || kind === undefined) return true;
      return !this.#ids.has(nameOf(kind, referenceOf(row, name)));
    });
  }
}

function nameOf(kind: string | undefined, sourceId: string | undefined): string {
  return `${kind ?? ""} ${sourceId ?? ""}`;
}

function referenceOf({ resource }: ImportRow, name: string): string | undefined {
  const reference: unknown = resource.value === undefined ? undefined : Reflect.get(resource.value, name);
  const id: unknown =
    typeof reference === "object" && reference !== null ? Reflect.get(reference, "sourceId") : undefined;
  return typeof id === "string" ? id : undefined;
}
