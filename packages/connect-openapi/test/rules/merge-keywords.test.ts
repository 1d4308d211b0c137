import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { mergeKeywords } from "../../src/rules/merge-keywords.js";

test.each<[string, JsonObject[], JsonObject]>([
  ["nothing", [], {}],
  ["different keywords", [{ minLength: 1 }, { format: "email" }], { minLength: 1, format: "email" }],
  ["two lower bounds", [{ minLength: 2 }, { minLength: 3 }, { minLength: 1 }], { minLength: 3 }],
  ["two upper bounds", [{ maximum: 2 }, { maximum: 1 }, { maximum: 3 }], { maximum: 1 }],
  ["the same keyword twice", [{ format: "email" }, { format: "email" }], { format: "email" }],
  [
    "two formats",
    [{ format: "email" }, { format: "idn-email" }],
    { format: "email", allOf: [{ format: "idn-email" }] },
  ],
  ["two patterns", [{ pattern: "a" }, { pattern: "b" }], { pattern: "a", allOf: [{ pattern: "b" }] }],
  ["what must not match", [{ not: { pattern: "a" } }], { not: { pattern: "a" } }],
  [
    "two that must not match",
    [{ not: { pattern: "a" } }, { minLength: 1 }, { not: { enum: ["b"] } }],
    { minLength: 1, not: { anyOf: [{ pattern: "a" }, { enum: ["b"] }] } },
  ],
  ["one that also has other keywords", [{ maxLength: 3, not: { const: "a" } }], { maxLength: 3, not: { const: "a" } }],
])("%s", (_, schemas, merged) => {
  expect(mergeKeywords(schemas)).toEqual(merged);
});
