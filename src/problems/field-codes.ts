import type { FieldErrorCode } from "../errors.js";
import type { CodeEntry } from "./code-entry.js";
import { conflictCodes } from "./conflict-codes.js";
import { requestCodes } from "./request-codes.js";

/**
 * Descriptions of all codes in `errors`. The problem pages, the OpenAPI documents and `docs/reference/errors.md` are
 * generated from them.
 */
export const fieldCodes: Readonly<Record<FieldErrorCode, CodeEntry>> = {
  ...requestCodes,
  ...conflictCodes,
} satisfies Record<FieldErrorCode, CodeEntry>;
