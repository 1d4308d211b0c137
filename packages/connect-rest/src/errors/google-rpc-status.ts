import type { Registry } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { RestError } from "../rest-error.js";
import { type ErrorDetail, errorDetails } from "./error-details.js";
import { classifyError, codeName, errorHeaders, type RenderError } from "./render-error.js";

/** Options of statuses. */
export interface GoogleRpcStatusOptions {
  /**
   * The domain of the transcoder's reasons in google.rpc.ErrorInfo, such as "library.example.com". Without it, the
   * transcoder's errors have no ErrorInfo.
   */
  readonly domain?: string;
  /** The types of details that other servers sent, see {@link errorDetails}. Defaults to none. */
  readonly registry?: Registry | undefined;
}

/**
 * Renders errors as Google's APIs do (AIP-193, "HTTP/1.1+JSON representation"): `{"error": {"code", "message",
 * "status", "details"}}`, with the HTTP status in `code` and the name of the google.rpc.Code in `status`.
 *
 * The details of a ConnectError are its own. The details of a {@link RestError} are a google.rpc.ErrorInfo with its
 * reason, if there is a `domain`, and a google.rpc.BadRequest with all violations, if there are any. The reason of a
 * violation is its code. Without details the member `details` is absent.
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
