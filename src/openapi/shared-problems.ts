import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { operationOf } from "../operation.js";
import { codeOfStatus } from "./example-errors.js";
import { otherProblemResponse, type ProblemOptions, problemResponse, problemSchemaName } from "./problem-responses.js";

/** The error responses of methods. Methods with the same response refer to one description of it. */
export interface SharedProblems {
  /** The responses by the name of their component. */
  readonly responses: JsonObject;
  /**
   * Returns references to the error responses of an operation: one for each HTTP status of its errors, and `default`
   * for all others. Empty for a method that was not described.
   */
  rowOf(method: DescMethod): JsonObject;
}

/**
 * Describes the error responses of methods. Methods with the same response share one component, such as
 * `InvalidRequest`. A different response with the same base name gets a number: `InvalidRequest2`. Without sharing, the
 * responses of a hundred operations would be most of the document.
 */
export function sharedProblems(methods: readonly DescMethod[], options: ProblemOptions): SharedProblems {
  const names = new Map<string, string>();
  const responses: Record<string, JsonObject> = {};
  const refer = (base: string, response: JsonObject): JsonObject => {
    const text = JSON.stringify(response);
    const name = names.get(text) ?? unused(base, responses);
    names.set(text, name);
    responses[name] = response;
    return { $ref: `#/components/responses/${name}` };
  };
  const rows = new Map(methods.map((method) => [method, rowOf(method, options, refer)]));
  return { responses, rowOf: (method) => rows.get(method) ?? {} };
}

function rowOf(
  method: DescMethod,
  options: ProblemOptions,
  refer: (base: string, response: JsonObject) => JsonObject,
): JsonObject {
  const own = operationOf(method).errorStatuses.map((status) => {
    const base = problemSchemaName(codeOfStatus(status)).replace(/Problem$/, "");
    return [status, refer(base, problemResponse(method, status, options))] as const;
  });
  return { ...Object.fromEntries(own), default: refer("OtherProblem", otherProblemResponse(method, options)) };
}

function unused(base: string, taken: JsonObject): string {
  let name = base;
  for (let n = 2; Object.hasOwn(taken, name); n++) name = `${base}${n}`;
  return name;
}
