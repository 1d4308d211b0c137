import { ConnectError } from "@connectrpc/connect";
import type { RestError } from "../rest-error.js";
import { classifyError, codeName, errorHeaders, type RenderError } from "./render-error.js";

/** A detail of a status, as JSON of google.protobuf.Any. */
export type StatusDetail = Readonly<Record<string, unknown>> & { readonly "@type": string };

/**
 * Renders errors as Google's APIs do (AIP-193): `{"error": {"code", "message", "status", "details"}}`. Violations are a
 * google.rpc.BadRequest. Details of a ConnectError are included if `detailsOf` returns their JSON; a detail in binary
 * form cannot be shown without its type.
 */
export function googleRpcStatus(detailsOf: (error: ConnectError) => readonly StatusDetail[] = () => []): RenderError {
  return (thrown) => {
    const classified = classifyError(thrown);
    const { status, code, detail: message, error } = classified;
    const details = error instanceof ConnectError ? detailsOf(error) : badRequest(error);
    const body = JSON.stringify({ error: { code: status, message, status: codeName(code), details } });
    return { status, headers: { ...errorHeaders(classified), "content-type": "application/json" }, body };
  };
}

function badRequest(error: RestError | undefined): readonly StatusDetail[] {
  if (error === undefined || error.violations.length === 0) return [];
  const fieldViolations = error.violations.map(({ field, code, message }) => ({
    field,
    description: message,
    reason: code,
  }));
  return [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
}
