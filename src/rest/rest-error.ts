import type { Violation } from "./violations/violation.js";

/**
 * NOT_FOUND: no route has this path. METHOD_NOT_ALLOWED: routes have it, for the methods in `allow`. MALFORMED: cannot be
 * read as a request (path, query, headers, or a body that is not JSON). INVALID: JSON that is no such message.
 */
export type RestErrorReason = "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "MALFORMED" | "INVALID";

/** What a {@link RestError} carries beside its reason. */
export interface RestErrorInit {
  readonly violations?: readonly Violation[];
  /** The methods that the path has, for the Allow header (RFC 9110 section 10.2.1). */
  readonly allow?: readonly string[];
}

/** Every refusal of the transcoder. `detail` is a sentence that is safe to show: it holds nothing the caller sent. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly violations: readonly Violation[];
  readonly allow?: readonly string[];

  constructor(
    readonly reason: RestErrorReason,
    readonly detail: string,
    init: RestErrorInit = {},
  ) {
    super(`${reason}: ${detail}`);
    this.violations = init.violations ?? [];
    if (init.allow !== undefined) this.allow = init.allow;
  }
}

/** The refusal of a request that cannot be read. */
export function malformed(detail: string, violations: readonly Violation[] = []): RestError {
  return new RestError("MALFORMED", detail, { violations });
}
