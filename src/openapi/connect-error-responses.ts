import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { type CupoError, type ErrorCode, errorTable } from "../errors.js";
import { connectCodeOf, connectErrorOf } from "../interceptors/connect-error.js";
import { operationOf } from "../operation.js";
import { detailOf } from "../problems/detail.js";
import { codeOfStatus, exampleErrors } from "./example-errors.js";
import { headersOf, type ResponseHeader } from "./header-components.js";
import { EXAMPLE_CORRELATION_ID, type ProblemOptions } from "./problem-responses.js";

const OUTSIDE_ROWS: readonly ErrorCode[] = ["INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];

const meanings: Readonly<Record<number, string>> = {
  400: "The request cannot be read or breaks rules of the contract (`invalid_argument`), or the state of a resource does not allow it (`failed_precondition`).",
  401: "The access token is missing, malformed, expired or meant for another audience (`unauthenticated`).",
  403: "The access token lacks the scope that the operation requires (`permission_denied`).",
  404: "The resource does not exist, or this client may not see it (`not_found`).",
  409: "Another change came first (`aborted`): read the resource again before you retry. Or the resource already exists (`already_exists`).",
  429: "The client has used up its quota (`resource_exhausted`). A page or a batch counts as one request for every fifty rows. Wait for the number of seconds in Retry-After.",
  500: "The service failed unexpectedly (`internal`).",
};

const ownHeaders: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ["WWW-Authenticate"],
  403: ["RateLimit-Policy", "RateLimit", "WWW-Authenticate"],
  409: ["RateLimit-Policy", "RateLimit", "Retry-After"],
  429: ["RateLimit-Policy", "RateLimit", "Retry-After"],
};

const unsupportedMediaType: JsonObject = {
  description: "The operation does not support this Content-Type. The answer has no body.",
  headers: headersOf(["X-Correlation-Id", "Accept-Post"]),
};

/**
 * Returns references to the error responses of a method over Connect, by HTTP status. Connect maps the errors of the
 * method to these statuses. Every method also has 415 and `default`.
 */
export function rowOfConnect(method: DescMethod): JsonObject {
  const statuses = operationOf(method).errorStatuses.flatMap((status) => httpStatusesOf(codeOfStatus(status)));
  const own = [...new Set(statuses)].toSorted((a, b) => a - b);
  return Object.fromEntries([
    ...own.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
    [415, { $ref: "#/components/responses/UnsupportedMediaType" }],
    ["default", { $ref: "#/components/responses/OtherError" }],
  ]);
}

/** Returns the responses that {@link rowOfConnect} refers to, with examples of their errors. */
export function connectErrorResponses(methods: readonly DescMethod[], options: ProblemOptions): JsonObject {
  const examples = examplesByStatus(methods, options);
  const own = Object.entries(examples).map(([status, values]) => [
    `Error${status}`,
    errorResponse(
      meanings[Number(status)] ?? "",
      ownHeaders[Number(status)] ?? ["RateLimit-Policy", "RateLimit"],
      values,
    ),
  ]);
  const [first] = methods;
  const others = OUTSIDE_ROWS.flatMap((code) =>
    first === undefined ? [] : Object.entries(exampleErrors(first, errorTable[code].status, options)),
  );
  const description =
    "Errors that any operation can have. The database is unreachable or a limit of concurrent calls is reached (`unavailable`), the service failed " +
    "unexpectedly (`internal`), or the caller's time limit expired (`deadline_exceeded`). Send the request again with the same Idempotency-Key. " +
    "If the answer has `Retry-After`, wait for that number of seconds first.";
  const other = errorResponse(
    description,
    ["RateLimit-Policy", "RateLimit", "Retry-After"],
    jsonExamples(Object.fromEntries(others), options),
  );
  return { ...Object.fromEntries(own), UnsupportedMediaType: unsupportedMediaType, OtherError: other };
}

/**
 * Returns the example errors by HTTP status. If several methods have an example of the same name for a status, the
 * example comes from the first of them.
 */
function examplesByStatus(methods: readonly DescMethod[], options: ProblemOptions): Record<number, JsonObject> {
  const found: Record<number, JsonObject> = {};
  for (const method of methods) {
    for (const status of operationOf(method).errorStatuses) {
      for (const [name, error] of Object.entries(exampleErrors(method, status, options))) {
        const examples = (found[codeToHttpStatus(connectCodeOf(error))] ??= {});
        if (examples[name] === undefined) Object.assign(examples, jsonExamples({ [name]: error }, options));
      }
    }
  }
  return found;
}

function httpStatusesOf(code: ErrorCode): number[] {
  const { connectCode, codesByReason } = errorTable[code];
  return [connectCode, ...Object.values(codesByReason)].map((each) => codeToHttpStatus(each));
}

function errorResponse(description: string, headers: readonly ResponseHeader[], examples: JsonObject): JsonObject {
  return {
    description,
    headers: headersOf(["X-Correlation-Id", ...headers]),
    content: { "application/json": { schema: { $ref: "#/components/schemas/ConnectError" }, examples } },
  };
}

function jsonExamples(errors: Readonly<Record<string, CupoError>>, { problemsUrl }: ProblemOptions): JsonObject {
  const call = { correlationId: EXAMPLE_CORRELATION_ID, responseHeaders: {} };
  const written = Object.entries(errors).map(([name, error]) => {
    const value = errorToJson(connectErrorOf(error, call, problemsUrl), undefined);
    return [name, { summary: detailOf(error) ?? errorTable[error.code].title, value }];
  });
  return Object.fromEntries(written);
}
