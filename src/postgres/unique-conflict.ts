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
 * Matches the name of a primary key, such as `patients_pkey`. A violation of a primary key is a conflict on `id`, or on
 * `tenantId` for `tenants_pkey`.
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
