import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { OperationParts } from "@cupo/connect-openapi";
import { hasEntityTag } from "../operation.js";
import { headersOf } from "./header-components.js";

const etag = {
  ETag: {
    description: "A tag of this answer for this caller. Any change of a byte changes it.",
    schema: { type: "string", pattern: '^"[A-Za-z0-9_-]{43}"$' },
  },
} satisfies JsonObject;

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of an earlier answer, or several. If the answer is still the same, it is 304 without a body.",
  schema: { type: "string" },
} satisfies JsonObject;

const lastEventId = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "The `id` of the last event that was processed. It replaces `cursor` and `start`.",
  schema: { type: "string", maxLength: 128 },
} satisfies JsonObject;

/**
 * Returns the headers and the response that let a client avoid reading the same data twice. A stream has the request
 * header `Last-Event-ID`. An operation with an entity tag has `If-None-Match`, `ETag` and the response 304. Any other
 * operation has none of these.
 */
export function cachingParts(method: DescMethod): {
  readonly parameters: readonly JsonObject[];
  readonly responseHeaders: JsonObject;
  readonly responses: NonNullable<OperationParts["responses"]>;
} {
  if (method.methodKind === "server_streaming") {
    return { parameters: [lastEventId], responseHeaders: {}, responses: {} };
  }
  if (!hasEntityTag(method)) return { parameters: [], responseHeaders: {}, responses: {} };
  const headers = { ...headersOf(["X-Correlation-Id", "RateLimit-Policy", "RateLimit"]), ...etag };
  const notModified = { description: "The caller has this answer already, by its ETag. It has no body.", headers };
  return { parameters: [ifNoneMatch], responseHeaders: etag, responses: { 304: notModified } };
}
