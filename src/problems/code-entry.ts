import type { ErrorCode } from "../errors.js";

/** The description of an error code, in sentences for people. */
export interface CodeEntry {
  readonly meaning: string;
  readonly cause: string;
  readonly remedy: string;
  /**
   * The RPCs that return this code in `errors`, grouped by the code of the Problem. `operation-codes.ts` adds the
   * operations that follow from the proto, for example from rules, field types, an idempotency key or an expected
   * version.
   */
  readonly answeredBy?: Readonly<Partial<Record<ErrorCode, readonly string[]>>>;
}
