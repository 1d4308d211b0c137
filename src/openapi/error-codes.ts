import type { DescEnum, DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import { errorTable } from "../errors.js";
import { Problem_FieldErrorSchema, ProblemSchema } from "../gen/cupo/access/v1/problem_pb.js";
import { fieldCodes } from "../problems/field-codes.js";
import { codesOf } from "../problems/operation-codes.js";

const codesByMessage = new Map<unknown, readonly string[]>([
  [ProblemSchema, Object.keys(errorTable)],
  [Problem_FieldErrorSchema, Object.keys(fieldCodes)],
]);

/**
 * Adds all codes to the schemas of Problem and its field errors, as an open list (`x-extensible-enum`). With a closed
 * `enum`, generated clients would reject codes that are added later. Returns the schemas of other definitions
 * unchanged.
 */
export function withCodes(definition: DescMessage | DescEnum, schema: JsonObject): JsonObject {
  const codes = codesByMessage.get(definition);
  if (codes === undefined) return schema;
  const { properties, ...rest } = schema as { readonly properties: Record<string, JsonObject> };
  return { ...rest, properties: { ...properties, code: { ...properties["code"], "x-extensible-enum": [...codes] } } };
}

/**
 * Maps each Problem code of an operation, such as CONCURRENT_MODIFICATION, to the codes that the items of `errors` can
 * then have. Omits Problem codes whose `errors` are always empty.
 */
export function errorCodesOf(method: DescMethod): JsonObject {
  return Object.fromEntries(Object.entries(codesOf(method)).map(([problem, codes]) => [problem, [...codes]]));
}
