import { type CupoError, conflict } from "../errors.js";
import { violatedUniqueConstraint } from "./sql-errors.js";

/**
 * The API field of each column. Unique constraints are named `<table>_<column>_key`, as PostgreSQL names them, so the
 * name contains the column.
 */
const FIELD_BY_COLUMN: Readonly<Record<string, string>> = {
  category: "caseCategory",
  code: "code",
  date: "date",
  document: "documentNumber",
};

/**
 * The suffix of PostgreSQL's names of primary keys. The primary key of a resource with a caller-visible id is
 * (tenant_id, id).
 */
const PRIMARY_KEY = /_pkey$/;

/**
 * Returns the conflict for a violated unique constraint; undefined for other errors and for constraints that no caller
 * can violate.
 */
export function uniqueConflict(error: unknown): CupoError | undefined {
  const constraint = violatedUniqueConstraint(error) ?? "";
  const column = /_([a-z]+)_key$/.exec(constraint)?.[1] ?? "";
  const field = PRIMARY_KEY.test(constraint) ? "id" : FIELD_BY_COLUMN[column];
  if (field === undefined) return undefined;
  return conflict({ code: "DUPLICATE", field, message: "the value must be unique, and another resource has it" });
}
