import type { Registry } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { RestError } from "../rest-error.js";
import { type ErrorDetail, errorDetails } from "./error-details.js";
import { classifyError, codeName, errorHeaders, type RenderError } from "./render-error.js";

export interface GoogleRpcStatusOptions {
  /**
   * The `domain` of google.rpc.ErrorInfo in errors that this package creates, such as "library.example.com". Without a
   * domain, these errors have no ErrorInfo.
   */
  readonly domain?: string;
  /** The types of error details from other servers, see {@link errorDetails}. Defaults to none. */
  readonly registry?: Registry | undefined;
}

/**
 * Renders errors as Google's APIs do (AIP-193, "HTTP/1.1+JSON representation"):
 * `{"error": {"code": 404, "message": "…", "status": "NOT_FOUND", "details": […]}}`.
 *
 * The member `details` is absent if it would be empty. It contains:
 * - for a ConnectError: its own details
 * - for a {@link RestError}: a google.rpc.ErrorInfo with its reason, if there is a `domain`
 * - for a RestError with violations: a google.rpc.BadRequest, in which the `reason` of each violation is its code
 */
export function googleRpcStatus({ domain, registry }: GoogleRpcStatusOptions = {}): RenderError {
  return (thrown) => {
    const classified = classifyError(thrown);
    const { status, code, detail: message, error } = classified;
    const details = error instanceof ConnectError ? errorDetails(error, registry) : ownDetails(error, domain);
    const body = JSON.stringify({
      error: { code: status, message, status: codeName(code), ...(details.length === 0 ? {} : { details }) },
    });
    return { status, headers: { ...errorHeaders(classified), "content-type": "application/json" }, body };
  };
}

function ownDetails(error: RestError | undefined, domain: string | undefined): readonly ErrorDetail[] {
  if (error === undefined) return [];
  const errorInfo =
    domain === undefined ? [] : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: error.reason, domain }];
  return error.violations.length === 0 ? errorInfo : [...errorInfo, badRequest(error)];
}

function badRequest({ violations }: RestError): ErrorDetail {
  const fieldViolations = violations.map(({ field, code, message }) => ({ field, description: message, reason: code }));
  return { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations };
}
