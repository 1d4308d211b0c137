import type { DescMethod } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { ErrorCode, FieldErrorCode } from "../../src/errors.js";
import { codesOf } from "../../src/problems/operation-codes.js";

const RESOURCE = /^There is no such [a-z -]+ \((\w+)\)\.$/;
const DOCUMENT = "No active patient has this document.";

/**
 * Fails the test if the Problem of an operation breaks one of these rules:
 * - `errors` has only codes that the catalogue lists for the operation.
 * - A 404 without `errors` names the resource and the field of the request.
 */
export function checkRefusal(method: DescMethod, problem: Readonly<Record<string, unknown>>): void {
  const code = problem["code"] as ErrorCode;
  const items = (problem["errors"] ?? []) as readonly { readonly code: FieldErrorCode }[];
  const stated = codesOf(method)[code] ?? [];
  const unstated = items.filter((item) => !stated.includes(item.code)).map((item) => item.code);
  if (unstated.length > 0)
    expect.fail(`the catalogue does not say that ${method.name} answers ${code} with ${unstated.join(", ")}`);
  if (code !== "RESOURCE_NOT_FOUND" || items.length > 0 || problem["detail"] === DOCUMENT) return;
  const [, field = ""] = RESOURCE.exec(String(problem["detail"])) ?? [];
  const isOfRequest = method.input.fields.some(({ jsonName }) => jsonName === field);
  if (!isOfRequest)
    expect.fail(`${method.name} answers 404 without a field of its request: ${String(problem["detail"])}`);
}
