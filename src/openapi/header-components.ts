import type { JsonObject } from "@bufbuild/protobuf";
import { actorForm } from "../interceptors/actor.js";
import { KEY_RETENTION_HOURS } from "../interceptors/idempotency.js";
import { idempotencyKeyForm } from "../interceptors/request-headers.js";

/** The headers that callers send, by name, as OpenAPI describes parameters. */
export const requestHeaders = {
  "Idempotency-Key": parameter("Idempotency-Key", true, {
    description:
      "A name for this request, which no other request of the same client and operation has: a UUID serves well. Sent again with the same request, " +
      `it gets the first answer again, marked \`Idempotent-Replayed: true\`; with another request it is a conflict. Kept for ${KEY_RETENTION_HOURS} hours.`,
    schema: { type: "string", minLength: 1, ...schemaOf(idempotencyKeyForm) },
    example: "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11",
  }),
  "X-Correlation-Id": parameter("X-Correlation-Id", false, {
    description:
      "A UUID of the caller's for this exchange, which the answer repeats. The service makes one where there is none.",
    schema: { type: "string", format: "uuid" },
    example: "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21",
  }),
  "Actor-Id": parameter("Actor-Id", false, {
    description:
      "An opaque id of the person who stands behind the client, no name. It is kept beside the client wherever the service records who did something.",
    schema: { type: "string", minLength: 1, ...schemaOf(actorForm) },
    example: "staff-17",
  }),
  "Connect-Protocol-Version": parameter("Connect-Protocol-Version", false, {
    description: "The version of the Connect protocol.",
    schema: { type: "string", enum: ["1"] },
    example: "1",
  }),
  "Connect-Timeout-Ms": parameter("Connect-Timeout-Ms", false, {
    description: "For how many milliseconds the caller waits. What is longer than the service allows is cut to that.",
    schema: { type: "string", pattern: "^[0-9]{1,10}$" },
    example: "5000",
  }),
} as const satisfies Record<string, JsonObject>;

/** The headers of answers, by name. */
export const responseHeaders = {
  "X-Correlation-Id": header("The correlation id of this exchange. Quote it when asking for help.", {
    type: "string",
    format: "uuid",
  }),
  "Idempotent-Replayed": header("Sent where the answer is that of an earlier request with the same Idempotency-Key.", {
    type: "string",
    enum: ["true"],
  }),
  "RateLimit-Policy": header('The quotas of the client: `"second";q=50;w=1` is 50 requests in 1 second.', {
    type: "string",
  }),
  RateLimit: header('What is left of each quota, and in how many seconds it is full again: `"second";r=49;t=1`.', {
    type: "string",
  }),
  "Retry-After": header("In how many seconds another try makes sense.", { type: "string", pattern: "^[0-9]+$" }),
  "WWW-Authenticate": header("What is wrong with the access token, or which scope it lacks (RFC 6750, section 3).", {
    type: "string",
  }),
  "Accept-Post": header("The media types that are taken.", { type: "string" }),
} as const satisfies Record<string, JsonObject>;

/** The name of a header that callers send. */
export type RequestHeader = keyof typeof requestHeaders;

/** The name of a header of answers. */
export type ResponseHeader = keyof typeof responseHeaders;

/** References to headers of answers, as a response has them. */
export function headersOf(names: readonly ResponseHeader[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** References to headers that callers send, as an operation has them. */
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
