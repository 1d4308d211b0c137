import { getExtension, getOption, hasExtension, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  predefined as predefinedRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { file_cupo_options_v1_rules as projectRules } from "../gen/cupo/options/v1/rules_pb.js";
import { celKeywords } from "./cel-keywords.js";

type Translate = (value: unknown) => JsonObject;

const number = (keyword: string) => (value: unknown) => ({ [keyword]: Number(value) });
const format = (name: string) => (value: unknown) => (value === true ? { format: name } : {});
/** For rules that the schema of the value already contains: those of enumerations and of list items. */
const saidElsewhere = () => ({});

/** The protovalidate rules that the protos use, by type and name. */
const translations: Readonly<Record<string, Translate>> = {
  "string.uuid": format("uuid"),
  "string.min_len": number("minLength"),
  "string.max_len": number("maxLength"),
  "int32.gte": number("minimum"),
  "int32.lte": number("maximum"),
  "uint32.gte": number("minimum"),
  "uint32.lte": number("maximum"),
  "repeated.min_items": number("minItems"),
  "repeated.max_items": number("maxItems"),
  "repeated.unique": (value) => (value === true ? { uniqueItems: true } : {}),
  "repeated.items": saidElsewhere,
  "enum.defined_only": saidElsewhere,
  "enum.in": saidElsewhere,
  "enum.not_in": saidElsewhere,
};

/**
 * Translates the rules of a field, or of the items of a list, to JSON Schema keywords. Throws for a rule without a
 * translation, so that no rule is missing from the documents unnoticed.
 */
export function ruleKeywords(fieldRules: FieldRules): JsonObject {
  if (fieldRules.cel.length > 0 || fieldRules.celExpression.length > 0)
    throw new Error("a field has its own CEL expression, which has no translation to JSON Schema");
  const all = reflect(FieldRulesSchema, fieldRules);
  const { case: typeName } = fieldRules.type;
  const type = all.fields.find(({ localName }) => localName === typeName);
  const rules = type === undefined ? undefined : all.get(type);
  if (type === undefined || !isReflectMessage(rules)) return {};
  return merged([...ownKeywords(type.name, rules), ...projectKeywords(rules)]);
}

function ownKeywords(typeName: string, rules: ReflectMessage): JsonObject[] {
  return rules.fields
    .filter((rule) => rules.isSet(rule))
    .map((rule) => {
      const translate = translations[`${typeName}.${rule.name}`];
      if (translate === undefined)
        throw new Error(`the rule ${typeName}.${rule.name} has no translation to JSON Schema`);
      return translate(rules.get(rule));
    });
}

function projectKeywords({ message }: ReflectMessage): JsonObject[] {
  return projectRules.extensions
    .filter((rule) => rule.extendee.typeName === message.$typeName && hasExtension(message, rule))
    .flatMap((rule) => {
      const value = Number(getExtension(message, rule));
      return value === 0
        ? []
        : getOption(rule, predefinedRules).cel.flatMap(({ id, expression }) => celKeywords({ id, expression, value }));
    });
}

/**
 * Merges schemas into one. Limits and formats are combined; every required pattern must match, and no forbidden one
 * may.
 */
function merged(all: readonly JsonObject[]): JsonObject {
  const isPattern = (keywords: JsonObject) => "pattern" in keywords;
  const isNot = (keywords: JsonObject) => "not" in keywords;
  const [pattern, ...patterns] = all.filter(isPattern);
  const unwanted = all.filter(isNot).map(({ not }) => not as JsonValue);
  const plain = all.filter((keywords) => !isPattern(keywords) && !isNot(keywords));
  return {
    ...Object.assign({}, ...plain, pattern),
    ...(patterns.length === 0 ? {} : { allOf: patterns }),
    ...(unwanted.length === 0 ? {} : { not: unwanted.length === 1 ? (unwanted[0] ?? {}) : { anyOf: unwanted } }),
  };
}
