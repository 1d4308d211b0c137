import type { JsonObject } from "@bufbuild/protobuf";
import { actorForm } from "../interceptors/actor.js";
import { KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import { idempotencyKeyForm } from "../interceptors/request-headers.js";

/** The request headers by name, as OpenAPI parameters. */
export const requestHeaders = {
  "Idempotency-Key": parameter("Idempotency-Key", true, {
    description:
      "A key for this request, such as a UUID. It must be unique among the requests of the same client and operation. The same key with the same request " +
      `returns the first answer with \`Idempotent-Replayed: true\`. With another request it is a conflict. Keys expire after ${KEY_RETENTION_HOURS} hours.`,
    schema: { type: "string", minLength: 1, ...schemaOf(idempotencyKeyForm) },
    example: "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11",
  }),
  "X-Correlation-Id": parameter("X-Correlation-Id", false, {
    description:
      "A UUID that the caller chooses for this exchange. The answer repeats it. Defaults to one that the service generates.",
    schema: { type: "string", format: "uuid" },
    example: "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21",
  }),
  "Actor-Id": parameter("Actor-Id", false, {
    description:
      "An opaque id of the person who uses the client, not a name. The service records it together with the client as the author of changes.",
    schema: { type: "string", minLength: 1, ...schemaOf(actorForm) },
    example: "staff-17",
  }),
  "Connect-Protocol-Version": parameter("Connect-Protocol-Version", false, {
    description: "The version of the Connect protocol.",
    schema: { type: "string", enum: ["1"] },
    example: "1",
  }),
  "Connect-Timeout-Ms": parameter("Connect-Timeout-Ms", false, {
    description: "The caller's time limit in milliseconds. Values above the service's limit are reduced to it.",
    schema: { type: "string", pattern: "^[0-9]{1,10}$" },
    example: "5000",
  }),
} as const satisfies Record<string, JsonObject>;

/** The response headers by name. */
export const responseHeaders = {
  "X-Correlation-Id": header("The correlation id of this exchange. Quote it when asking for help.", {
    type: "string",
    format: "uuid",
  }),
  "Idempotent-Replayed": header(
    "Present when the answer is repeated from an earlier request with the same Idempotency-Key.",
    {
      type: "string",
      enum: ["true"],
    },
  ),
  "RateLimit-Policy": header('The quotas of the client: `"second";q=50;w=1` is 50 requests in 1 second.', {
    type: "string",
  }),
  RateLimit: header(
    'The remaining requests of each quota, and the seconds until it is full again: `"second";r=49;t=1`.',
    {
      type: "string",
    },
  ),
  "Retry-After": header("Seconds to wait before the next attempt.", { type: "string", pattern: "^[0-9]+$" }),
  "WWW-Authenticate": header("The problem with the access token, or the scope that it lacks (RFC 6750, section 3).", {
    type: "string",
  }),
  "Accept-Post": header("The supported media types.", { type: "string" }),
} as const satisfies Record<string, JsonObject>;

/** The name of a request header. */
export type RequestHeader = keyof typeof requestHeaders;

/** The name of a response header. */
export type ResponseHeader = keyof typeof responseHeaders;

/** Returns references to response headers, for a response. */
export function headersOf(names: readonly ResponseHeader[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns references to request headers, for an operation. */
export function headerParameters(names: readonly RequestHeader[]): JsonObject[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function parameter(name: string, required: boolean, rest: JsonObject): JsonObject {
  return { name, in: "header", required, ...rest };
}

function header(description: string, schema: JsonObject): JsonObject {
  return { description, schema };
}

function schemaOf({ pattern, maxLength }: { readonly pattern: RegExp; readonly maxLength: number }): JsonObject {
  return { maxLength, pattern: pattern.source };
}
