import { describe, expect, test } from "vitest";
import { celKeywords } from "../../src/openapi/cel-keywords.js";

const rule = (expression: string, id = "string.made_up") => celKeywords({ id, expression, value: 7 });

describe("a rule of CEL becomes keywords of JSON Schema:", () => {
  test.each<[string, string, object[]]>([
    ["a text that is not empty", "this != ''", [{ minLength: 1 }]],
    ["a longest text", "size(this) <= rule ? '' : 'at most %d'.format([rule])", [{ maxLength: 7 }]],
    ["a range", "(this >= 1 && this <= 10000) || !rule", [{ minimum: 1, maximum: 10_000 }]],
    ["a pattern", "this.matches('^a\\\\.b$') || !rule", [{ pattern: "^a\\.b$" }]],
    ["a pattern that must not match", "!this.matches('[x]') || !rule", [{ not: { pattern: "[x]" } }]],
    ["several", "this.matches('a') && !this.matches('b')", [{ pattern: "a" }, { not: { pattern: "b" } }]],
    ["the value of the rule in a pattern", "this.matches('^.{%d}'.format([rule])) ? '' : 'no'", [{ pattern: "^.{7}" }]],
    ["what is not ASCII, escaped", "!this.matches('[\u00ad\u202a]')", [{ not: { pattern: "[\\u00ad\\u202a]" } }]],
  ])("%s", (_, expression, keywords) => {
    expect(rule(expression)).toEqual(keywords);
  });

  test("one whose form has a name of its own has that name", () => {
    expect(rule("this.isEmail()", "string.mailbox")).toEqual([{ format: "email" }]);
  });

  test("what tools that do not compile patterns as Unicode take for something else is left to the words", () => {
    expect(rule("this.matches('^\\\\p{L}$') && !this.matches('[\u00ad\u{e0000}-\u{e007f}]')")).toEqual([
      { not: { pattern: "[\\u00ad]" } },
    ]);
  });

  test("one of another kind is an error, and not left out", () => {
    expect(() => rule("this.size() > 3")).toThrow(/^the rule string\.made_up has no form in JSON Schema/);
  });
});
