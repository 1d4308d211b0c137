import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { type CupoError, type ErrorCode, errorTable } from "../errors.js";
import { operationOf } from "../operation.js";
import { PROBLEM_MEDIA_TYPE, problemJson, problemOf } from "../problem.js";
import { explanations } from "../problem-pages.js";
import { codeOfStatus, exampleErrors, type Judges } from "./example-errors.js";
import { headersOf, type ResponseHeader } from "./header-components.js";

/** The correlation id of examples. */
export const EXAMPLE_CORRELATION_ID = "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21";

/** What has no place in the rows of the specification because no service can promise that it never comes. */
const OUTSIDE_ROWS: readonly ErrorCode[] = [
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];

/** Headers of errors beside the correlation id and, once the client is known, its quotas. */
const ownHeaders: Readonly<Partial<Record<ErrorCode, readonly ResponseHeader[]>>> = {
  INVALID_ACCESS_TOKEN: ["WWW-Authenticate"],
  INSUFFICIENT_SCOPE: ["WWW-Authenticate"],
  CONCURRENT_MODIFICATION: ["Retry-After"],
  RATE_LIMIT_EXCEEDED: ["Retry-After"],
  SERVICE_UNAVAILABLE: ["Retry-After"],
};

/** What problems are described with. */
export interface ProblemOptions extends Judges {
  /** Prefix of the types of problems, without a slash at its end. */
  readonly problemsUrl: string;
}

/** The name of the schema of the Problems with a code: `ValidationFailedProblem`. */
export function problemSchemaName(code: ErrorCode): string {
  return `${code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;
}

/** The schema of the Problems with a code: a Problem whose type, status and code are these. */
export function problemSchema(code: ErrorCode, problemsUrl: string): JsonObject {
  const { status, slug, title } = errorTable[code];
  const [meaning, remedy] = explanations[code];
  return {
    description: `${meaning} ${remedy}`,
    allOf: [
      { $ref: "#/components/schemas/Problem" },
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

/** The response of an operation with an error status of its row, with examples of what it can be. */
export function problemResponse(method: DescMethod, status: number, options: ProblemOptions): JsonObject {
  const code = codeOfStatus(status);
  const [meaning, remedy] = explanations[code];
  const errors = Object.entries(exampleErrors(method, status, options));
  const quotas: readonly ResponseHeader[] = code === "INVALID_ACCESS_TOKEN" ? [] : ["RateLimit-Policy", "RateLimit"];
  return {
    description: `${errorTable[code].title}. ${meaning} ${remedy}`,
    headers: headersOf(["X-Correlation-Id", ...quotas, ...(ownHeaders[code] ?? [])]),
    content: content(
      problemSchemaName(code),
      Object.fromEntries(errors.map(([name, error]) => [name, example(error, options)])),
    ),
  };
}

/** The response for every status that is not in the row of an operation. */
export function otherProblemResponse(method: DescMethod, options: ProblemOptions): JsonObject {
  const { errorStatuses } = operationOf(method);
  const codes = OUTSIDE_ROWS.filter((code) => !errorStatuses.includes(errorTable[code].status));
  const examples = codes.flatMap((code) => {
    const [error] = Object.values(exampleErrors(method, errorTable[code].status, options));
    return error === undefined ? [] : [[exampleName(code), example(error, options)] as const];
  });
  return {
    description:
      "What no service can promise never to answer: the request does not arrive, the database is away, something inside goes wrong. " +
      "It is a Problem like every other error. Send the request again with the same Idempotency-Key, if there is a `Retry-After` then after that.",
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
    summary: error.detail ?? title,
    value: JSON.parse(problemJson(problemOf(error, EXAMPLE_CORRELATION_ID, problemsUrl))),
  };
}

function exampleName(code: ErrorCode): string {
  return code.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
