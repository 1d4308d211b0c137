import type { Violation } from "./violations/violation.js";

/**
 * The reason why the handler rejects a request.
 *
 * - NOT_FOUND: no route has this path.
 * - METHOD_NOT_ALLOWED: the path supports only the methods in `allow`.
 * - MALFORMED: the path, the query or a header is invalid; or the body is not JSON, repeats a member name or nests too
 *   deeply; or a body was sent to an operation that takes none.
 * - UNSUPPORTED_MEDIA_TYPE: Content-Type or Content-Encoding is not supported.
 * - TOO_LONG: the body is longer than `maxBodyBytes`.
 * - INVALID: the body is JSON but violates the schema of the request.
 */
export type RestErrorReason =
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "MALFORMED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "TOO_LONG"
  | "INVALID";

/** Details of a {@link RestError}, in addition to its reason. */
export interface RestErrorInit {
  readonly violations?: readonly Violation[];
  /** The HTTP methods that the path supports, for the Allow header (RFC 9110 section 10.2.1). */
  readonly allow?: readonly string[];
}

/**
 * The error of a request that the handler rejects. `detail` is a sentence that callers may see: it contains no input of
 * the caller.
 */
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

/** Creates the error for a request whose path, query, headers or body cannot be read. */
export function malformed(detail: string, violations: readonly Violation[] = []): RestError {
  return new RestError("MALFORMED", detail, { violations });
}

/** Creates the error for a body longer than `maxBytes`: TOO_LONG, or MALFORMED if `maxBytes` is 0. */
export function tooLong(maxBytes: number): RestError {
  if (maxBytes === 0) return malformed("This operation takes no body.");
  return new RestError("TOO_LONG", `The body is longer than ${maxBytes} bytes.`);
}
