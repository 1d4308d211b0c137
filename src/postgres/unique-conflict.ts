import { type CupoError, conflict } from "../errors.js";
import { violatedUniqueConstraint } from "./sql-errors.js";

/** Unique constraints are named `<table>_<column>_key`, as PostgreSQL itself would, so that the field shows in the name. */
const FIELD_BY_COLUMN: Readonly<Record<string, string>> = { code: "code", date: "date", document: "documentNumber" };

/** The name that PostgreSQL gives to primary keys. Those of what callers know the ids of are of the tenant and the id. */
const PRIMARY_KEY = /_pkey$/;

/** The conflict that a violated unique constraint means to the caller; undefined for a constraint that means nothing. */
export function uniqueConflict(error: unknown): CupoError | undefined {
  const constraint = violatedUniqueConstraint(error) ?? "";
  const column = /_([a-z]+)_key$/.exec(constraint)?.[1] ?? "";
  const field = PRIMARY_KEY.test(constraint) ? "id" : FIELD_BY_COLUMN[column];
  if (field === undefined) return undefined;
  return conflict({ code: "DUPLICATE", field, message: "another resource has this value, which must be unique" });
}
