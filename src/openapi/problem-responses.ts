import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { type CupoError, type ErrorCode, errorTable, type FieldErrorCode } from "../errors.js";
import { operationOf } from "../operation.js";
import { detailOf } from "../problems/detail.js";
import { codesOf } from "../problems/operation-codes.js";
import { PROBLEM_MEDIA_TYPE, problemJson, problemOf } from "../problems/problem.js";
import { problemCodes } from "../problems/problem-codes.js";
import { codeOfStatus, exampleErrors, type Judges } from "./example-errors.js";
import { headersOf, type ResponseHeader } from "./header-components.js";

/** The correlation id in examples. */
export const EXAMPLE_CORRELATION_ID = "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21";

/** Codes that every operation can return, even if its proto does not list their statuses. */
const OUTSIDE_ROWS: readonly ErrorCode[] = [
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];

/**
 * The additional response headers of errors, by code. All errors have X-Correlation-Id. Errors of authenticated clients
 * also have the RateLimit headers.
 */
const ownHeaders: Readonly<Partial<Record<ErrorCode, readonly ResponseHeader[]>>> = {
  INVALID_ACCESS_TOKEN: ["WWW-Authenticate"],
  INSUFFICIENT_SCOPE: ["WWW-Authenticate"],
  CONCURRENT_MODIFICATION: ["Retry-After"],
  RATE_LIMIT_EXCEEDED: ["Retry-After"],
  SERVICE_UNAVAILABLE: ["Retry-After"],
};

/** Options for describing Problems. */
export interface ProblemOptions extends Judges {
  /**
   * The beginning of the `type` of each Problem, a URL without a trailing slash. A slash and the name of the error
   * follow.
   */
  readonly problemsUrl: string;
}

/** Returns the schema name of Problems with this code, such as `ValidationFailedProblem`. */
export function problemSchemaName(code: ErrorCode): string {
  return `${code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;
}

/**
 * Returns the schema of Problems with this code, based on `problem`, the schema of all Problems. The returned schema
 * allows only one value for each of `type`, `title`, `status` and `code`.
 */
function problemSchema(code: ErrorCode, problem: JsonObject, problemsUrl: string): JsonObject {
  const { status, slug, title } = errorTable[code];
  const { meaning, cause, remedy } = problemCodes[code];
  return {
    description: `${meaning} ${cause} ${remedy}`,
    allOf: [
      problem,
      {
        type: "object",
        properties: {
          type: { type: "string", format: "uri", const: `${problemsUrl}/${slug}` },
          title: { type: "string", const: title },
          status: { type: "integer", const: status },
          code: { type: "string", const: code },
        },
      },
    ],
  };
}

/**
 * Returns a schema for each error code whose status is in the `errorStatuses` of at least one of these routes. Each
 * schema is based on `problem`, the schema of all Problems.
 */
export function problemSchemas(
  routes: readonly { readonly method: DescMethod }[],
  problem: JsonObject,
  problemsUrl: string,
): JsonObject {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const answered = codes.filter((code) =>
    routes.some(({ method }) => operationOf(method).errorStatuses.includes(errorTable[code].status)),
  );
  return Object.fromEntries(
    answered.map((code) => [problemSchemaName(code), problemSchema(code, problem, problemsUrl)]),
  );
}

/** Returns the response of an operation for one of its error statuses, with examples. */
export function problemResponse(method: DescMethod, status: number, options: ProblemOptions): JsonObject {
  const code = codeOfStatus(status);
  const { meaning, cause, remedy } = problemCodes[code];
  const codes = codesOf(method)[code] ?? [];
  const errors = Object.entries(exampleErrors(method, status, options));
  const quotas: readonly ResponseHeader[] = code === "INVALID_ACCESS_TOKEN" ? [] : ["RateLimit-Policy", "RateLimit"];
  return {
    description: [`${errorTable[code].title}. ${meaning} ${cause} ${remedy}`, ...codesSentence(codes)].join("\n\n"),
    headers: headersOf(["X-Correlation-Id", ...quotas, ...(ownHeaders[code] ?? [])]),
    content: content(
      problemSchemaName(code),
      Object.fromEntries(errors.map(([name, error]) => [name, example(error, options)])),
    ),
  };
}

function codesSentence(codes: readonly FieldErrorCode[]): string[] {
  return codes.length === 0 ? [] : [`Codes in \`errors\`: ${codes.map((code) => `\`${code}\``).join(", ")}.`];
}

/** Returns the response for all statuses that the proto of an operation does not list. */
export function otherProblemResponse(method: DescMethod, options: ProblemOptions): JsonObject {
  const { errorStatuses } = operationOf(method);
  const codes = OUTSIDE_ROWS.filter((code) => !errorStatuses.includes(errorTable[code].status));
  const examples = codes.flatMap((code) => {
    const [error] = Object.values(exampleErrors(method, errorTable[code].status, options));
    return error === undefined ? [] : [[exampleName(code), example(error, options)] as const];
  });
  return {
    description:
      "Errors that any operation can have: the request does not arrive completely, the database is unreachable, the service fails unexpectedly. " +
      "The body is a Problem. Send the request again with the same Idempotency-Key. If the answer has `Retry-After`, wait for that number of seconds first.",
    headers: headersOf(["X-Correlation-Id", "RateLimit-Policy", "RateLimit", "Retry-After"]),
    content: content("Problem", Object.fromEntries(examples)),
  };
}

function content(schema: string, examples: JsonObject): JsonObject {
  return { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: `#/components/schemas/${schema}` }, examples } };
}

function example(error: CupoError, { problemsUrl }: ProblemOptions): JsonObject {
  const { title } = errorTable[error.code];
  return {
    summary: detailOf(error) ?? title,
    value: JSON.parse(problemJson(problemOf(error, EXAMPLE_CORRELATION_ID, problemsUrl))),
  };
}

function exampleName(code: ErrorCode): string {
  return code.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
