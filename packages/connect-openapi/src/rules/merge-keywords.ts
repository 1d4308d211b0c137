import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

const LOWER_BOUNDS = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const UPPER_BOUNDS = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

/**
 * Merges schemas that must all hold into one schema. If two schemas have the same bound, such as `minLength`, the
 * narrower value is kept. If a schema and an earlier schema have different values of another keyword, such as
 * `pattern`, the later schema goes into `allOf`. All `not` schemas are combined in one `not`.
 */
export function mergeKeywords(all: readonly JsonObject[]): JsonObject {
  const isPattern = (schema: JsonObject) => "pattern" in schema;
  const merged: JsonObject = {};
  const further: JsonValue[] = [];
  const others = all.map(withoutNot);
  const plain = others.filter((schema) => !isPattern(schema));
  for (const schema of [...plain, ...others.filter(isPattern)]) {
    const both = union(merged, schema);
    if (both === undefined) further.push(schema);
    else Object.assign(merged, both);
  }
  const unwanted = all.flatMap(({ not }) => (not === undefined ? [] : [not]));
  return {
    ...merged,
    ...(further.length === 0 ? {} : { allOf: further }),
    ...(unwanted.length === 0 ? {} : { not: unwanted.length === 1 ? (unwanted[0] ?? {}) : { anyOf: unwanted } }),
  };
}

function union(one: JsonObject, other: JsonObject): JsonObject | undefined {
  const both: JsonObject = {};
  for (const [keyword, value] of Object.entries(other)) {
    const merged = one[keyword] === undefined ? value : narrower(keyword, one[keyword], value);
    if (merged === undefined) return undefined;
    both[keyword] = merged;
  }
  return both;
}

function narrower(keyword: string, one: JsonValue, other: JsonValue): JsonValue | undefined {
  if (LOWER_BOUNDS.has(keyword)) return Math.max(Number(one), Number(other));
  if (UPPER_BOUNDS.has(keyword)) return Math.min(Number(one), Number(other));
  return JSON.stringify(one) === JSON.stringify(other) ? one : undefined;
}

function withoutNot(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "not"));
}
