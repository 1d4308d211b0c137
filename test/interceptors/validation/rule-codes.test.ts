import {
  createRegistry,
  type DescExtension,
  type DescField,
  type DescMessage,
  getOption,
  isFieldSet,
} from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  FieldRulesSchema,
  field as fieldOption,
  message as messageOption,
  predefined,
  type Rule,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, it } from "vitest";
import { file_cupo_options_v1_rules as projectRules } from "../../../src/gen/cupo/options/v1/rules_pb.js";
import { ruleCode } from "../../../src/interceptors/validation/rule-codes.js";
import { generatedFiles, withNested } from "./generated-files.js";

const projectRegistry = createRegistry(projectRules);
const messages = (await generatedFiles()).flatMap((file) => file.messages.flatMap(withNested));
const ownRules = messages.flatMap((message) => [
  ...getOption(message, messageOption).cel,
  ...message.fields.flatMap((field) => getOption(field, fieldOption).cel),
  ...message.fields.flatMap(extensionsUsed).flatMap((extension) => getOption(extension, predefined).cel),
]);
const standardIds = messages.flatMap(({ fields }) => fields.flatMap(standardIdsUsed));

describe("the table of rule codes", () => {
  it("sees the rules of the protos", () => {
    expect(ownRules.map(({ id }) => id)).toEqual(expect.arrayContaining(["string.line", "date_range"]));
    expect(standardIds).toEqual(
      expect.arrayContaining([
        "required",
        "string.uuid",
        "string.uuid_empty",
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
    expect(rule.message || rule.expression).toMatch(/\bthe (value|list|last date|end|block) must\b/);
  });

  it("names the fields of each rule on a message", () => {
    for (const message of messages) {
      for (const { id } of getOption(message, messageOption).cel) {
        const names = message.fields.map(({ name }) => name);
        expect(names, id).toEqual(expect.arrayContaining([...(ruleCode(id).fields ?? ["none"])]));
      }
    }
  });

  it.each(["string.pattern", "constructor", ""])("refuses %j, which has no entry", (id) => {
    expect(() => ruleCode(id)).toThrow("has no field-level error code");
  });
});

/** The ids of protovalidate's own rules that a field uses, as the definition of each rule states them. */
function standardIdsUsed(field: DescField): string[] {
  const fieldRules = getOption(field, fieldOption);
  const ofTypes = typeRules(reflect(FieldRulesSchema, fieldRules)).flatMap((rules) => {
    const set = rules.fields.filter((each) => isFieldSet(rules.message, each) && each.name !== "items");
    const bounds = ["gte", "lte"].filter((name) => set.some((each) => each.name === name));
    return bounds.length > 0 ? [`int32.${bounds.join("_")}`] : set.flatMap((each) => idsOf(rules.desc, each));
  });
  return [...(fieldRules.required ? ["required"] : []), ...ofTypes];
}

function idsOf(rules: DescMessage, field: DescField): string[] {
  const { cel } = getOption(field, predefined);
  const prefix = rules.name.replace("Rules", "").toLowerCase();
  return cel.length > 0 ? cel.map(({ id }) => id) : [`${prefix}.${field.name}`];
}

function extensionsUsed(field: DescField): DescExtension[] {
  return typeRules(reflect(FieldRulesSchema, getOption(field, fieldOption))).flatMap((rules) =>
    (rules.message.$unknown ?? []).map(({ no }) => {
      const extension = projectRegistry.getExtensionFor(rules.desc, no);
      if (extension === undefined) throw new Error(`${rules.desc.typeName} has no rule ${no}`);
      return extension;
    }),
  );
}

/** The rules of the field's type and, for a list, those of its items' type. */
function typeRules(fieldRules: ReflectMessage): ReflectMessage[] {
  const ofType = messagesIn(fieldRules, ({ oneof }) => oneof?.name === "type");
  const ofItems = ofType.flatMap((rules) => messagesIn(rules, ({ name }) => name === "items"));
  return [...ofType, ...ofItems.flatMap(typeRules)];
}

function messagesIn(parent: ReflectMessage, wanted: (field: DescField) => boolean): ReflectMessage[] {
  const fields = parent.fields.filter((field) => wanted(field) && parent.isSet(field));
  return fields.map((field): unknown => parent.get(field)).filter((value) => isReflectMessage(value));
}

function distinct(rules: readonly Rule[]): Rule[] {
  return [...new Map(rules.map((rule) => [rule.id, rule])).values()];
}
