import type { FieldError } from "../errors.js";

/** The maximum number of errors in a Problem. */
export const MAX_ERRORS = 100;
/**
 * The maximum number of errors in the details of a gRPC error. gRPC sends details in trailers, and some clients accept
 * at most 8 KiB of trailers.
 */
export const MAX_ERRORS_IN_TRAILERS = 20;

/**
 * Returns the first `max` errors. If there are more, adds a MORE_ERRORS item with the number of the others. The last of
 * `errors` can be such an item already. The number is then a lower bound.
 */
export function listedErrors(errors: readonly FieldError[], max: number): readonly FieldError[] {
  const isIncomplete = errors.at(-1)?.code === "MORE_ERRORS";
  const others = errors.length - max - (isIncomplete ? 1 : 0);
  if (others <= 0) return errors;
  const count = isIncomplete ? `at least ${others + 1}` : String(others);
  const message = others === 1 && !isIncomplete ? "1 more error is not listed" : `${count} more errors are not listed`;
  return [...errors.slice(0, max), { code: "MORE_ERRORS", field: "", message }];
}
