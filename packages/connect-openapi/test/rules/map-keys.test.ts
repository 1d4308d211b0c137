import type { JsonObject } from "@bufbuild/protobuf";
import { MapRulesSchema } from "../gen/museum/v1/rules_pb.js";
import { describeRules } from "../support/describe-rules.js";

const map = (propertyNames: JsonObject): JsonObject => ({
  type: "object",
  propertyNames,
  additionalProperties: { type: "string" },
});

describeRules("rules of map keys", MapRulesSchema, {
  words: {
    schema: {
      ...map({ maxLength: 4 }),
      description:
        "Rule: each key must have at most this number of bytes in UTF-8: 4. Rule: each key must match `(?i)^a*$`. " +
        "Rule: each key: must be in lower case.",
    },
    accepted: [{ aa: "" }],
    rejected: [{ aaaaa: "" }],
    unseen: [{ b: "" }, { A: "" }],
  },
  above: {
    schema: { ...map({ pattern: "^-?[0-9]+$" }), description: "Rule: each key must be greater than 0." },
    accepted: [{ 1: "" }],
    unseen: [{ 0: "" }],
  },
  some: {
    schema: map({ pattern: "^[0-9]+$", enum: ["1", "2"] }),
    accepted: [{ 1: "", 2: "" }],
    rejected: [{ 3: "" }],
  },
  but: {
    schema: map({ pattern: "^-?[0-9]+$", not: { enum: ["0"] } }),
    accepted: [{ "-1": "" }],
    rejected: [{ 0: "" }],
  },
  zeroOrFive: {
    schema: map({ pattern: "^-?[0-9]+$", anyOf: [{ const: "0" }, { const: "5" }] }),
    accepted: [{ 0: "", 5: "" }],
    rejected: [{ 1: "" }],
  },
  yes: { schema: map({ enum: ["true", "false"], const: "true" }), accepted: [{ true: "" }], rejected: [{ false: "" }] },
  calculated: {
    schema: { ...map({ pattern: "^-?[0-9]+$" }), description: "Rule: each key: `this > 5`." },
    accepted: [{ 6: "" }],
    unseen: [{ 5: "" }],
  },
});
