import { create, equals } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ScriptSchema, type Seen } from "../../gen/script/v1/script_pb.js";
import type { CodeName, ConformanceCase, Expected } from "./conformance-case.js";
import type { Format } from "./formats.js";
import type { Outcome } from "./read-answer.js";
import { maxTimeLimitMs } from "./servers.js";
import { isUnary } from "./write-request.js";

/** The HTTP status of a unary error over Connect (connectrpc.com/docs/protocol, "Error Codes"). */
const statuses: Readonly<Record<CodeName, number>> = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401,
};

/** Compares an answer with that of the table. */
export function expectAnswer(
  outcome: Outcome,
  call: ConformanceCase,
  method: string,
  format: Format,
  expected: Expected,
): void {
  const { answers, error, ...rest } = outcome;
  const seen = answers[0]?.seen ?? error?.seen;
  expect({
    ...rest,
    answers: answers.map(({ data }) => Buffer.from(data).toString()),
    error: error && { code: error.code, message: error.message, details: error.details },
    seen: seen && judge(seen, call),
  }).toEqual(expectedOutcome(expected, method, format));
  expect(answers.slice(1).filter((answer) => answer.seen !== undefined)).toEqual([]);
}

function expectedOutcome(expected: Expected, method: string, format: Format) {
  const isConnectUnary = format.protocol === "connect" && isUnary(method);
  const { answers = [], headers, trailers, errorMetadata, error, seen } = expected;
  return {
    status: expected.status ?? (isConnectUnary && error ? statuses[error.code] : 200),
    answers,
    isCompressed: (expected.isCompressed ?? false) && format.compression !== "identity",
    headers: { ...headers, ...(isConnectUnary ? errorMetadata : {}) },
    trailers: { ...trailers, ...(isConnectUnary ? {} : errorMetadata) },
    error: error && expect.objectContaining(error),
    seen: seen && { headers: seen.headers ?? {}, timeLimit: seen.hasTimeLimit ? "valid" : "none", isEqual: true },
  };
}

function judge({ headers, remainingMs, script }: Seen, { timeLimitMs = 0, script: sent = {} }: ConformanceCase) {
  const isValid = (ms: number) => ms > 0 && ms <= Math.min(timeLimitMs, maxTimeLimitMs);
  return {
    headers: Object.fromEntries(headers.map(({ name, values }) => [name, values.join()])),
    timeLimit: remainingMs === undefined ? "none" : isValid(remainingMs) ? "valid" : remainingMs,
    isEqual: script !== undefined && equals(ScriptSchema, script, create(ScriptSchema, sent)),
  };
}
