import { type CupoError, conflict } from "../errors.js";
import { violatedUniqueConstraint } from "./sql-errors.js";

/**
 * Maps the last word before `_key` in the name of a unique constraint or index to the API field of the conflict.
 * Example: a violation of `payers_code_key` is a conflict on the field `code`.
 */
const FIELD_BY_COLUMN: Readonly<Record<string, string>> = {
  category: "caseCategory",
  code: "code",
  date: "date",
  document: "documentNumber",
};

/**
 * The end of the name that PostgreSQL gives to a primary key. If callers can see the ids of a table, its primary key is
 * (tenant_id, id). So a violation of such a key is a conflict on `id`; in the table `tenants`, it is a conflict on
 * `tenantId`.
 */
const PRIMARY_KEY = /_pkey$/;

/**
 * Returns the 409 for a violated unique constraint. Returns undefined for other errors, and for constraints that no
 * caller can violate.
 */
export function uniqueConflict(error: unknown): CupoError | undefined {
  const constraint = violatedUniqueConstraint(error) ?? "";
  const column = /_([a-z]+)_key$/.exec(constraint)?.[1] ?? "";
  const isKey = PRIMARY_KEY.test(constraint);
  const field = constraint === "tenants_pkey" ? "tenantId" : isKey ? "id" : FIELD_BY_COLUMN[column];
  if (field === undefined) return undefined;
  return conflict({ code: "DUPLICATE", field, message: "the value must be unique, and another resource has it" });
}
