import { describe, expect, test } from "vitest";
import { celKeywords } from "../../src/openapi/cel-keywords.js";

const rule = (expression: string, id = "string.made_up") => celKeywords({ id, expression, value: 7 });

describe("a CEL rule becomes keywords of JSON Schema:", () => {
  test.each<[string, string, object[]]>([
    ["a text that must not be empty", "this != ''", [{ minLength: 1 }]],
    ["a largest length", "size(this) <= rule ? '' : 'at most %d'.format([rule])", [{ maxLength: 7 }]],
    ["a range", "(this >= 1 && this <= 10000) || !rule", [{ minimum: 1, maximum: 10_000 }]],
    ["a pattern", "this.matches('^a\\\\.b$') || !rule", [{ pattern: "^a\\.b$" }]],
    ["a pattern that must not match", "!this.matches('[x]') || !rule", [{ not: { pattern: "[x]" } }]],
    ["two conditions", "this.matches('a') && !this.matches('b')", [{ pattern: "a" }, { not: { pattern: "b" } }]],
    ["the value of the rule in a pattern", "this.matches('^.{%d}'.format([rule])) ? '' : 'no'", [{ pattern: "^.{7}" }]],
    [
      "characters outside ASCII, escaped",
      "!this.matches('[\u00ad\u202a]')",
      [{ not: { pattern: "[\\u00ad\\u202a]" } }],
    ],
  ])("%s", (_, expression, keywords) => {
    expect(rule(expression)).toEqual(keywords);
  });

  test("a well-known predicate becomes the format of the same meaning", () => {
    expect(rule("this.isEmail()", "string.mailbox")).toEqual([{ format: "email" }]);
  });

  test("a pattern that non-Unicode validators would misread is omitted", () => {
    expect(rule("this.matches('^\\\\p{L}$') && !this.matches('[\u00ad\u{e0000}-\u{e007f}]')")).toEqual([
      { not: { pattern: "[\\u00ad]" } },
    ]);
  });

  test("a rule of an unknown form is an error, and is not omitted", () => {
    expect(() => rule("this.size() > 3")).toThrow(/^the rule string\.made_up has no form in JSON Schema/);
  });
});
