import { expect } from "vitest";
import type { RestAnswer } from "./rest-request.js";

/** Code and type of each error status (section 7 of the interface specification and docs/internals/decisions.md). */
const problems: Readonly<Record<number, readonly [code: string, slug: string]>> = {
  400: ["INVALID_REQUEST", "invalid-request"],
  401: ["INVALID_ACCESS_TOKEN", "unauthorized"],
  403: ["INSUFFICIENT_SCOPE", "forbidden"],
  404: ["RESOURCE_NOT_FOUND", "not-found"],
  405: ["METHOD_NOT_ALLOWED", "method-not-allowed"],
  408: ["REQUEST_TIMEOUT", "request-timeout"],
  409: ["CONCURRENT_MODIFICATION", "conflict"],
  410: ["OPTION_EXPIRED", "option-expired"],
  422: ["VALIDATION_FAILED", "validation"],
  429: ["RATE_LIMIT_EXCEEDED", "rate-limit"],
  431: ["HEADERS_TOO_LARGE", "headers-too-large"],
  503: ["SERVICE_UNAVAILABLE", "service-unavailable"],
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MEMBERS = new Set(["type", "title", "status", "code", "correlationId", "detail", "errors", "instance"]);

/**
 * Requires an answer to be a Problem with this status and everything that all Problems share: media type, code and
 * problem type of the status, the correlation id of its header, no-store and nosniff. `items` are its field errors in
 * order, each as `field CODE`.
 */
export function expectProblem(answer: RestAnswer, status: number, items?: readonly string[]): void {
  const [code, slug] = problems[status] ?? [];
  const { body } = answer;
  expect({ status: answer.status, code: body["code"], items: items && itemsOf(answer) }).toEqual({
    status,
    code,
    items,
  });
  expectCommonHeaders(answer);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(body).toMatchObject({ status, title: expect.stringMatching(/\S/) });
  expect(new URL(String(body["type"])).pathname).toBe(`/problems/${slug}`);
  expect(body["correlationId"]).toBe(answer.headers.get("x-correlation-id"));
  expect(Object.keys(body).filter((member) => !MEMBERS.has(member))).toEqual([]);
  for (const error of errorsOf(answer)) {
    const text = expect.stringMatching(/\S/);
    expect(error).toEqual({ code: text, field: expect.any(String), message: text });
  }
}

/** Requires an answer without any details of the failure. */
export function expectInternalError(answer: RestAnswer): void {
  expectCommonHeaders(answer);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.body).toEqual({
    type: expect.stringMatching(/\/problems\/internal-error$/),
    title: "Internal error",
    status: 500,
    code: "INTERNAL_ERROR",
    correlationId: answer.headers.get("x-correlation-id"),
  });
}

/** Requires the headers that every answer has. */
export function expectCommonHeaders({ headers }: RestAnswer): void {
  expect(headers.get("x-correlation-id")).toMatch(UUID);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
}

/** Returns the field errors of an answer, each as `field CODE`. */
export function itemsOf(answer: RestAnswer): string[] {
  return errorsOf(answer).map(({ field, code }) => `${String(field)} ${String(code)}`);
}

/** Returns the messages of the field errors of an answer. */
export function messagesOf(answer: RestAnswer): string[] {
  return errorsOf(answer).map(({ message }) => String(message));
}

function errorsOf({ body }: RestAnswer): Record<string, unknown>[] {
  return (body["errors"] ?? []) as Record<string, unknown>[];
}
