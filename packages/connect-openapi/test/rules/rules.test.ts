import type { JsonObject } from "@bufbuild/protobuf";
import { CelRulesSchema, NumberRulesSchema, OtherRulesSchema, StringRulesSchema } from "../gen/museum/v1/rules_pb.js";
import { describeRules } from "../support/describe-rules.js";

const text = (keywords: JsonObject): JsonObject => ({ type: "string", ...keywords });
const integer = (keywords: JsonObject): JsonObject => ({ type: "integer", format: "int32", ...keywords });
const float = (keywords: JsonObject): JsonObject => ({ type: "number", format: "float", ...keywords });
const [FLOAT_01, FLOAT_07, FLOAT_09] = [Math.fround(0.1), Math.fround(0.7), Math.fround(0.9)];
const UUID = "5a0cb1f6-1d2b-4a8e-9b5d-0f6f6c1f7a11";

describeRules("rules of strings", StringRulesSchema, {
  const: { schema: text({ const: "a" }), accepted: ["a"], rejected: ["b", ""] },
  in: { schema: text({ enum: ["a", "b"] }), accepted: ["a"], rejected: ["c"] },
  notIn: { schema: text({ not: { enum: ["a", "b"] } }), accepted: ["c", ""], rejected: ["a"] },
  len: { schema: text({ minLength: 2, maxLength: 2 }), accepted: ["ab", "ñ😀"], rejected: ["a", "abc"] },
  minLen: { schema: text({ minLength: 2 }), accepted: ["ab"], rejected: ["a", "😀"] },
  maxLen: { schema: text({ maxLength: 2 }), accepted: ["", "😀😀"], rejected: ["abc"] },
  lenBytes: {
    schema: text({
      minLength: 1,
      maxLength: 4,
      description: "Rule: the value must have this number of bytes in UTF-8: 4.",
    }),
    accepted: ["abcd", "ññ", "😀"],
    rejected: ["", "abcde"],
    unseen: ["ñ"],
  },
  minBytes: {
    schema: text({ minLength: 1, description: "Rule: the value must have at least this number of bytes in UTF-8: 4." }),
    accepted: ["abcd", "😀"],
    rejected: [""],
    unseen: ["a"],
  },
  maxBytes: {
    schema: text({ maxLength: 4, description: "Rule: the value must have at most this number of bytes in UTF-8: 4." }),
    accepted: ["abcd", "ññ"],
    rejected: ["abcde"],
    unseen: ["ñññ"],
  },
  pattern: { schema: text({ pattern: "^[a-z]{2}$" }), accepted: ["ab"], rejected: ["abc", "AB"] },
  letters: {
    schema: text({ description: "Rule: the value must match `^\\p{L}+$`." }),
    accepted: ["ñ"],
    unseen: ["1"],
  },
  anyCase: { schema: text({ description: "Rule: the value must match `(?i)^a$`." }), accepted: ["A"], unseen: ["b"] },
  prefix: { schema: text({ pattern: "^a\\.b/" }), accepted: ["a.b/c"], rejected: ["axb/c"] },
  suffix: { schema: text({ pattern: "\\(c\\)$" }), accepted: ["a(c)"], rejected: ["c", "(c)d"] },
  contains: { schema: text({ pattern: "a\\+b" }), accepted: ["1a+b"], rejected: ["aab"] },
  notContains: { schema: text({ not: { pattern: "\\u00f1\\$" } }), accepted: ["ñ"], rejected: ["ñ$1"] },
  email: { schema: text({ format: "email" }), accepted: ["a@b.co"], rejected: ["a"] },
  hostname: { schema: text({ format: "hostname" }), accepted: ["a.example"], rejected: ["a_b"] },
  ip: {
    schema: text({ anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }),
    accepted: ["127.0.0.1", "::1"],
    rejected: ["1.2.3"],
  },
  ipv4: { schema: text({ format: "ipv4" }), accepted: ["127.0.0.1"], rejected: ["::1"] },
  ipv6: { schema: text({ format: "ipv6" }), accepted: ["::1"], rejected: ["127.0.0.1"] },
  uri: { schema: text({ format: "uri" }), accepted: ["https://a.example/b"], rejected: ["/b"] },
  uriRef: { schema: text({ format: "uri-reference" }), accepted: ["/b"], rejected: ["\\"] },
  address: {
    schema: text({ anyOf: [{ format: "hostname" }, { format: "ipv4" }, { format: "ipv6" }] }),
    accepted: ["a.example", "::1"],
    rejected: ["a b"],
  },
  uuid: { schema: text({ format: "uuid" }), accepted: [UUID], rejected: [UUID.replaceAll("-", "")] },
  tuuid: { schema: text({ pattern: "^[0-9a-fA-F]{32}$" }), accepted: [UUID.replaceAll("-", "")], rejected: [UUID] },
  ulid: {
    schema: text({ pattern: "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$" }),
    accepted: ["01ARZ3NDEKTSV4RRFFQ69G5FAV"],
    rejected: ["81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU"],
  },
  fqn: {
    schema: text({ pattern: "^[A-Za-z_][A-Za-z_0-9]*(\\.[A-Za-z_][A-Za-z_0-9]*)*$" }),
    accepted: ["a.v1.B"],
    rejected: [".a", "a..b"],
  },
  dotFqn: {
    schema: text({ pattern: "^\\.[A-Za-z_][A-Za-z_0-9]*(\\.[A-Za-z_][A-Za-z_0-9]*)*$" }),
    accepted: [".a.B"],
    rejected: ["a"],
  },
  headerName: {
    schema: text({ pattern: "^:?[0-9a-zA-Z!#$%&'*+.^_|~\\u0060-]+$" }),
    accepted: ["content-type", ":path"],
    rejected: ["a b", ""],
  },
  looseHeader: {
    schema: text({ pattern: "^[^\\u0000\\u000a\\u000d]*$" }),
    accepted: ["a\tb\u0001"],
    rejected: ["a\nb"],
  },
  hostAndPort: {
    schema: text({ description: "Rule: the value must be a host and a port." }),
    accepted: ["a.example:80"],
    unseen: ["a.example"],
  },
  example: { schema: text({ minLength: 1, examples: ["Ana"] }), accepted: ["a"], rejected: [""] },
  unlessEmpty: {
    schema: text({ anyOf: [{ const: "" }, { format: "uuid" }] }),
    accepted: ["", UUID],
    rejected: ["a"],
  },
  ignored: { schema: text({}), accepted: ["a"] },
  notAnEmail: { schema: text({}), accepted: ["a"] },
  wrapped: { schema: text({ maxLength: 2 }), accepted: ["ab"], rejected: ["abc"] },
  twoPatterns: {
    schema: text({
      pattern: "^a",
      allOf: [{ pattern: "z$" }],
      not: { anyOf: [{ pattern: "m" }, { enum: ["abz"] }] },
    }),
    accepted: ["acz"],
    rejected: ["bz", "ab", "amz", "abz"],
  },
  unlessUnset: { schema: text({ format: "uuid" }), accepted: [UUID], rejected: ["", "a"] },
  items: {
    schema: { type: "array", items: text({ anyOf: [{ const: "" }, { minLength: 2, maxLength: 2 }] }) },
    accepted: [["", "ab"]],
    rejected: [["a"]],
  },
  any: { schema: text({ pattern: "^[^\\n]+$" }), accepted: ["a.b", "a\r\u2028b"], rejected: ["", "a\nb"] },
  noBlank: {
    schema: text({ pattern: "^[^\\t\\n\\f\\r ]+[^\\t\\n\\f\\r .]$" }),
    accepted: ["\u00a0\v", "\v\u00a0"],
    rejected: [" a", "a ", "a."],
  },
  unreadable: {
    schema: text({ description: "Rule: the value must match `^[\\S.]$`." }),
    accepted: ["\u00a0"],
    unseen: [" "],
  },
});

describeRules("rules of numbers", NumberRulesSchema, {
  const: { schema: integer({ const: 7 }), accepted: [7], rejected: [8] },
  in: { schema: integer({ enum: [1, 2] }), accepted: [1], rejected: [3] },
  notIn: { schema: integer({ not: { enum: [1, 2] } }), accepted: [3], rejected: [1] },
  inside: { schema: integer({ maximum: 5, exclusiveMinimum: 1 }), accepted: [2, 5], rejected: [1, 6] },
  outside: {
    schema: integer({ anyOf: [{ exclusiveMaximum: 1 }, { minimum: 5 }] }),
    accepted: [0, 5],
    rejected: [1, 4],
  },
  atMost: { schema: { type: "integer", minimum: 0, maximum: 5 }, accepted: [0, 5], rejected: [6] },
  below: { schema: { type: "number", format: "double", exclusiveMaximum: 1.5 }, accepted: [1.4], rejected: [1.5] },
  finite: { schema: { type: "number", format: "float" }, accepted: [1], rejected: ["NaN"] },
  atLeast: { schema: integer({ minimum: -2 }), accepted: [-2], rejected: [-3] },
  longConst: {
    schema: { type: "string", pattern: "^-?[0-9]+$", const: "9007199254740993" },
    accepted: ["9007199254740993"],
    rejected: ["9007199254740992"],
  },
  longIn: { schema: { type: "string", pattern: "^[0-9]+$", enum: ["1", "2"] }, accepted: ["1"], rejected: ["3"] },
  longRange: {
    schema: {
      type: "string",
      pattern: "^-?[0-9]+$",
      description: "Rule: the value must be less than 10. Rule: the value must be at least 1.",
    },
    accepted: ["1"],
    unseen: ["10"],
  },
  unlessZero: { schema: integer({ anyOf: [{ const: 0 }, { minimum: 5 }] }), accepted: [0, 5], rejected: [4] },
  always: { schema: { type: "boolean", const: true }, accepted: [true], rejected: [false] },
  wrapped: { schema: integer({ exclusiveMinimum: 3 }), accepted: [4], rejected: [3] },
  floatIn: { schema: float({ enum: [0.1, FLOAT_01, 0.5] }), accepted: [0.1, FLOAT_01, 0.5], rejected: [0.2] },
  floatConst: { schema: float({ enum: [0.7, FLOAT_07] }), accepted: [0.7, FLOAT_07], rejected: [0.6] },
  floatInside: {
    schema: float({ minimum: 0.1, exclusiveMaximum: FLOAT_09 }),
    accepted: [0.1, FLOAT_01, 0.8],
    rejected: [0.09, 0.9, FLOAT_09],
  },
  noLimit: {
    schema: { type: "number", format: "double", description: "Rule: the value must be at most Infinity." },
    accepted: [1e308],
  },
  notInfinite: { schema: { type: "number", format: "double", not: { enum: [1] } }, accepted: [2], rejected: [1] },
});

const size = { $ref: "#/components/schemas/OtherRulesSize" };

describeRules("rules of enumerations, lists, maps and messages", OtherRulesSchema, {
  in: { schema: { ...size, enum: ["SMALL", "LARGE"] }, accepted: ["SMALL"], rejected: ["SIZE_UNSPECIFIED"] },
  notIn: { schema: { ...size, enum: ["SMALL", "LARGE"] }, accepted: ["LARGE"], rejected: ["SIZE_UNSPECIFIED"] },
  const: { schema: { ...size, enum: ["LARGE"] }, accepted: ["LARGE"], rejected: ["SMALL"] },
  unlessZero: {
    schema: { ...size, enum: ["SIZE_UNSPECIFIED", "LARGE"] },
    accepted: ["SIZE_UNSPECIFIED", "LARGE"],
    rejected: ["SMALL"],
  },
  items: {
    schema: {
      type: "array",
      anyOf: [{ maxItems: 0 }, { minItems: 1, maxItems: 3, uniqueItems: true }],
      items: text({ maxLength: 2 }),
    },
    accepted: [[], ["a", "b"]],
    rejected: [["a", "a"], ["abc"], ["a", "b", "c", "d"]],
  },
  pairs: {
    schema: {
      type: "object",
      maxProperties: 2,
      propertyNames: { pattern: "^[a-z]$" },
      additionalProperties: integer({ minimum: 0 }),
    },
    accepted: [{ a: 0, b: 1 }],
    rejected: [{ ab: 1 }, { a: -1 }, { a: 1, b: 1, c: 1 }],
  },
  atMostBytes: {
    schema: text({
      contentEncoding: "base64",
      maxLength: 4,
      description: "Rule: the value must have at most this number of bytes: 3.",
    }),
    accepted: ["AAAA"],
    rejected: ["AAAAAA=="],
  },
  short: {
    schema: text({ pattern: "^-?[0-9]+(\\.[0-9]+)?s$", description: "Rule: the value must be at most 5s." }),
    accepted: ["5s"],
    unseen: ["6s"],
  },
  past: {
    schema: text({ format: "date-time", description: "Rule: the value must be in the past." }),
    accepted: ["2001-01-01T00:00:00Z"],
    unseen: ["9001-01-01T00:00:00Z"],
  },
  since: {
    schema: text({ format: "date-time", description: "Rule: the value must be at least 2026-01-01T00:00:00Z." }),
    accepted: ["2026-01-01T00:00:00Z"],
    unseen: ["2025-12-31T00:00:00Z"],
  },
});

describeRules("rules in CEL", CelRulesSchema, {
  notEmpty: { schema: text({ minLength: 1 }), accepted: ["a"], rejected: [""] },
  code: {
    schema: text({ maxLength: 4, pattern: "^a\\.", not: { pattern: "[0-9]" } }),
    accepted: ["a.b"],
    rejected: ["ab", "a.bcd", "a.1"],
  },
  either: {
    schema: text({ description: "Rule: must be empty or a letter." }),
    accepted: ["", "a"],
    unseen: ["ab"],
  },
  range: { schema: integer({ minimum: 1, exclusiveMaximum: 10 }), accepted: [1, 9], rejected: [0, 10] },
  few: {
    schema: { type: "array", maxItems: 2, items: text({}) },
    accepted: [[], ["a", "a"]],
    rejected: [["a", "b", "c"]],
  },
  predefined: { schema: text({ pattern: "^[A-Z]{2}$" }), accepted: ["AB"], rejected: ["A", "ab"] },
  noPredefined: { schema: text({}), accepted: ["\u00ad"] },
  plain: {
    schema: text({ not: { pattern: "[\\u00ad]" } }),
    accepted: ["a"],
    rejected: ["\u00ad"],
    unseen: ["\u{e0001}"],
  },
  word: {
    schema: text({ maxLength: 9, description: "Rule: must be a word." }),
    accepted: ["ñandú"],
    rejected: ["abcdefghij"],
    unseen: ["1"],
  },
  long: {
    schema: text({ pattern: "^-?[0-9]+$", description: "Rule: `this > 5`." }),
    accepted: ["6"],
    unseen: ["5"],
  },
  unlessEmpty: { schema: text({ anyOf: [{ const: "" }, { pattern: "^a" }] }), accepted: ["", "a"], rejected: ["b"] },
  unlessZero: { schema: integer({ anyOf: [{ const: 0 }, { minimum: 5 }] }), accepted: [0, 5], rejected: [4] },
  unlessNone: {
    schema: { type: "array", anyOf: [{ maxItems: 0 }, { minItems: 2 }], items: text({}) },
    accepted: [[], ["a", "a"]],
    rejected: [["a"]],
  },
});
