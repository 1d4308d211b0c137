import { getOption } from "@bufbuild/protobuf";
import {
  field as fieldOption,
  message as messageOption,
  predefined,
  type Rule,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, it } from "vitest";
import { ruleCode } from "../../../src/interceptors/validation/rule-codes.js";
import { extensionsUsed, standardIds as standardIdsOf } from "../../../src/interceptors/validation/rule-ids.js";
import { generatedFiles, withNested } from "./generated-files.js";

const messages = (await generatedFiles()).flatMap((file) => file.messages.flatMap(withNested));
const ownRules = messages.flatMap((message) => [
  ...getOption(message, messageOption).cel,
  ...message.fields.flatMap((field) => getOption(field, fieldOption).cel),
  ...message.fields.flatMap(extensionsUsed).flatMap((extension) => getOption(extension, predefined).cel),
]);
const standardIds = messages.flatMap(({ fields }) => fields.flatMap(standardIdsOf));

describe("the table of rule codes", () => {
  it("the test finds the rules of the protos", () => {
    expect(ownRules.map(({ id }) => id)).toEqual(expect.arrayContaining(["string.line", "date_range"]));
    expect(standardIds).toEqual(
      expect.arrayContaining([
        "required",
        "string.uuid",
        "string.uuid_empty",
        "enum.defined_only",
        "enum.not_in",
        "int32.gte",
        "int32.gte_lte",
      ]),
    );
  });

  it.each([...new Set(standardIds)])("has code and message for %s", (id) => {
    expect(ruleCode(id).code).toMatch(/^[A-Z_]+$/);
    expect(ruleCode(id).message).toMatch(/^the /);
  });

  it.each(distinct(ownRules))("has a code for $id, whose message is in the proto", (rule) => {
    expect(ruleCode(rule.id).code).toMatch(/^[A-Z_]+$/);
    expect(ruleCode(rule.id).message).toBeUndefined();
    expect(rule.message || rule.expression).toMatch(
      /\b(the value|[a-z]\w+|exactly one of [\w, ]+|at least one of [\w, ]+) must\b/,
    );
  });

  it("names existing fields for each rule on a message", () => {
    for (const message of messages) {
      for (const { id } of getOption(message, messageOption).cel) {
        const names = message.fields.map(({ name }) => name);
        expect(names, id).toEqual(expect.arrayContaining([...(ruleCode(id).fields ?? ["none"])]));
      }
    }
  });

  it("the rule required is found where a field states it, and nowhere else", () => {
    for (const field of messages.flatMap(({ fields }) => fields))
      expect(standardIdsOf(field).includes("required"), field.name).toBe(getOption(field, fieldOption).required);
  });

  it.each(["string.prefix", "constructor", ""])("throws for %j, which has no entry", (id) => {
    expect(() => ruleCode(id)).toThrow("has no field-level error code");
  });
});

function distinct(rules: readonly Rule[]): Rule[] {
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()];
}
