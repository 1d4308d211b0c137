import type { ErrorCode } from "../errors.js";

/** The description of an error code, in sentences for people. */
export interface CodeEntry {
  readonly meaning: string;
  readonly cause: string;
  readonly remedy: string;
  /**
   * The RPCs that return this code in `errors`, grouped by the code of the Problem. The list omits RPCs whose proto
   * shows that they return this code, for example by a validation rule or an idempotency key. `operation-codes.ts` adds
   * these RPCs.
   */
  readonly answeredBy?: Readonly<Partial<Record<ErrorCode, readonly string[]>>>;
}
