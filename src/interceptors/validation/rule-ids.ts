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
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { file_cupo_options_v1_rules as projectRules } from "../../gen/cupo/options/v1/rules_pb.js";

const projectRegistry = createRegistry(projectRules);

/**
 * Returns the ids of the rules of a field, in the form that protovalidate reports. The rules are those of
 * protovalidate, the field's own CEL rules and the rules of the project.
 */
export function ruleIdsOfField(field: DescField): string[] {
  const own = getOption(field, fieldOption).cel.map(({ id }) => id);
  const byExtension = extensionsUsed(field).flatMap((extension) => getOption(extension, predefined).cel);
  return [...standardIds(field), ...own, ...byExtension.map(({ id }) => id)];
}

/** Returns the ids of the rules on a message, without the rules on its fields. */
export function ruleIdsOfMessage(message: DescMessage): string[] {
  return getOption(message, messageOption).cel.map(({ id }) => id);
}

/**
 * Returns the rules of the project that a field uses. These rules are extensions of protovalidate. Throws if the field
 * uses an extension that the project does not define.
 */
export function extensionsUsed(field: DescField): DescExtension[] {
  return typeRules(reflect(FieldRulesSchema, getOption(field, fieldOption))).flatMap((rules) =>
    (rules.message.$unknown ?? []).map(({ no }) => {
      const extension = projectRegistry.getExtensionFor(rules.desc, no);
      if (extension === undefined) throw new Error(`${rules.desc.typeName} has no rule ${no}`);
      return extension;
    }),
  );
}

/** Returns the ids of protovalidate's own rules that a field uses, in the form that protovalidate reports. */
export function standardIds(field: DescField): string[] {
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

/** Returns the rules for the field's type. For a list, also returns the rules for the type of its items. */
function typeRules(fieldRules: ReflectMessage): ReflectMessage[] {
  const ofType = messagesIn(fieldRules, ({ oneof }) => oneof?.name === "type");
  const ofItems = ofType.flatMap((rules) => messagesIn(rules, ({ name }) => name === "items"));
  return [...ofType, ...ofItems.flatMap(typeRules)];
}

function messagesIn(parent: ReflectMessage, wanted: (field: DescField) => boolean): ReflectMessage[] {
  const fields = parent.fields.filter((field) => wanted(field) && parent.isSet(field));
  return fields.map((field): unknown => parent.get(field)).filter((value) => isReflectMessage(value));
}
