import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { errorTable } from "../errors.js";
import { fieldCodes } from "../problems/field-codes.js";
import { codesOf } from "../problems/operation-codes.js";

/**
 * Adds all codes to the schemas of Problem and its field errors, as an open list. An `enum` would be closed: generated
 * clients reject values outside of it, so no code could be added later. Tools that do not know the keyword read a plain
 * string.
 */
export function withCodes(schemas: Readonly<Record<string, JsonValue>>): Record<string, JsonValue> {
  return {
    ...schemas,
    Problem: withCodeList(schemas["Problem"], Object.keys(errorTable)),
    ProblemFieldError: withCodeList(schemas["ProblemFieldError"], Object.keys(fieldCodes)),
  };
}

/** Returns the codes that an operation can return in `errors`, by the code of the Problem. */
export function errorCodesOf(method: DescMethod): JsonObject {
  return Object.fromEntries(Object.entries(codesOf(method)).map(([problem, codes]) => [problem, [...codes]]));
}

function withCodeList(schema: JsonValue | undefined, codes: readonly string[]): JsonObject {
  const { properties, ...rest } = Object(schema) as { readonly properties: Record<string, JsonObject> };
  return { ...rest, properties: { ...properties, code: { ...properties["code"], "x-extensible-enum": [...codes] } } };
}
