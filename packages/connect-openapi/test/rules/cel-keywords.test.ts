import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { celKeywords, type ValueKind } from "../../src/rules/cel-keywords.js";

function rule(expression: string, kind: ValueKind = "string", keywords?: JsonObject) {
  return celKeywords({ id: "string.made_up", message: "", expression, value: 7 }, kind, keywords);
}

describe("a CEL rule becomes keywords of JSON Schema:", () => {
  test.each<[string, string, JsonObject[], ValueKind?]>([
    ["a text that must not be empty", "this != ''", [{ minLength: 1 }]],
    ["a largest length", "size(this) <= rule ? '' : 'at most %d'.format([rule])", [{ maxLength: 7 }]],
    ["a length below a limit", "this.size() < 7", [{ maxLength: 6 }]],
    ["a smallest length", "size(this) >= 2", [{ minLength: 2 }]],
    ["a length above a limit", "size(this) > 2", [{ minLength: 3 }]],
    ["an exact length", "size(this) == 2", [{ minLength: 2, maxLength: 2 }]],
    ["a number of items", "size(this) <= 2", [{ maxItems: 2 }], "list"],
    ["a number of entries", "size(this) >= 2u", [{ minProperties: 2 }], "map"],
    ["a range", "(this >= 1 && this <= 10000) || !rule", [{ minimum: 1 }, { maximum: 10_000 }], "number"],
    ["an open range", "this > -1.5 && this < rule", [{ exclusiveMinimum: -1.5 }, { exclusiveMaximum: 7 }], "number"],
    ["one number", "this == 3", [{ const: 3 }], "number"],
    ["a pattern", "this.matches('^a\\\\.b$') || !rule", [{ pattern: "^a\\.b$" }]],
    ["a pattern that must not match", "!this.matches('[x]') || !rule", [{ not: { pattern: "[x]" } }]],
    ["two conditions", "this.matches('a') && !this.matches('b')", [{ pattern: "a" }, { not: { pattern: "b" } }]],
    ["conditions in parentheses", "((this.matches('a')) && (this != ''))", [{ pattern: "a" }, { minLength: 1 }]],
    ["operators inside a text", "this.matches('a && (b || c) ? d')", [{ pattern: "a && (b || c) ? d" }]],
    ["a text in double quotes", 'this.matches("\'\\t\\u00f1")', [{ pattern: "'\\u0009\\u00f1" }]],
    [
      "the value of the rule in a pattern",
      "this.matches('^.{%d}'.format([rule])) ? '' : 'no'",
      [{ pattern: "^[^\\n]{7}" }],
    ],
    ["a beginning", "this.startsWith('a.')", [{ pattern: "^a\\." }]],
    ["an end that must not be", "!this.endsWith('$')", [{ not: { pattern: "\\$$" } }]],
    ["a part", "this.contains('(')", [{ pattern: "\\(" }]],
    ["a well-known predicate", "this.isEmail()", [{ format: "email" }]],
    [
      "characters outside ASCII, escaped",
      "!this.matches('[\u00ad\u202a]')",
      [{ not: { pattern: "[\\u00ad\\u202a]" } }],
    ],
  ])("%s", (_, expression, schemas, kind) => {
    expect(rule(expression, kind)).toEqual({ schemas, unsaid: [] });
  });

  test("the caller's keywords for a rule replace those of its expression", () => {
    expect(rule("this.isEmail() && anything", "string", { format: "idn-email" })).toEqual({
      schemas: [{ format: "idn-email" }],
      unsaid: [],
    });
  });
});

describe("a condition without a keyword is left unsaid, and not guessed:", () => {
  test.each<[string, string, JsonObject[], ValueKind?]>([
    ["an alternative", "this == '' || this.matches('a')", []],
    ["an alternative to a pattern", "this.matches('a') || this == ''", []],
    ["an alternative beside a switch", "this.matches('a') || this.matches('b') || !rule", []],
    ["an unknown function", "this.matches('a') && this.lowerAscii() == this", [{ pattern: "a" }]],
    ["a length of another kind", "size(this) <= 3", [], "other"],
    ["a range of a text", "this > 'a'", []],
    ["a text for what is allowed", "this.matches('a') && this != '' ? 'bad' : ''", []],
    ["a choice within a choice", "this.matches('a') ? '' : this == '' ? '' : 'bad'", []],
    ["a condition that is not the whole", "this.matches('a') == false", []],
    ["a condition on a part", "this.all(x, x.matches('a'))", [], "list"],
  ])("%s", (_, expression, schemas, kind) => {
    expect(rule(expression, kind)).toMatchObject({ schemas, unsaid: [{ id: "string.made_up", reason: "FORM" }] });
  });

  test.each<[string, string]>([
    ["Unicode classes", "this.matches('^\\\\p{L}$')"],
    ["a flag", "this.matches('(?i)a')"],
    ["a POSIX class", "this.matches('[[:alpha:]]')"],
    ["a character above U+FFFF", "this.matches('^[a\u{1f600}]$')"],
    ["a negated class with one", "!this.matches('[^a\u{1f600}]')"],
    ["syntax that does not compile in Unicode mode", "this.matches('a\\\\-b')"],
  ])("a pattern that tools would misread: %s", (_, expression) => {
    expect(rule(expression)).toMatchObject({ schemas: [], unsaid: [{ reason: "PATTERN" }] });
  });

  test("a pattern that non-Unicode validators would misread is omitted", () => {
    expect(rule("this.matches('^\\\\p{L}$') && !this.matches('[\u00ad\u{e0000}-\u{e007f}]')")).toMatchObject({
      schemas: [{ not: { pattern: "[\\u00ad]" } }],
      unsaid: [{ reason: "PATTERN" }],
    });
  });

  test("the text of the expression is its message", () => {
    const { unsaid } = rule("this.foo() ? '' : 'at most %d, don\\'t'.format([rule])");
    expect(unsaid).toEqual([
      {
        id: "string.made_up",
        message: "at most 7, don't",
        expression: "this.foo() ? '' : 'at most %d, don\\'t'.format([rule])",
        reason: "FORM",
      },
    ]);
  });
});
