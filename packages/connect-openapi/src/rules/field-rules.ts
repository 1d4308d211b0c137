import { type DescField, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type FieldRules, FieldRulesSchema, Ignore, type Rule } from "../gen/buf/validate/validate_pb.js";
import { celKeywords, type ValueKind } from "./cel-keywords.js";
import { mergeKeywords } from "./merge-keywords.js";
import { isNumberType, numberRules } from "./number-rules.js";
import { ignoresZero } from "./own-rules.js";
import { predefinedRules } from "./predefined-rules.js";
import { ruleSentence } from "./rule-sentence.js";
import { stringRules } from "./string-rules.js";
import { joined, keywords, SAID, type Translation, type Unsaid } from "./translation.js";

/**
 * The rules of a value, translated to keywords of JSON Schema. `unsaid` lists the rules that the keywords do not
 * express in full.
 */
export interface ValueRules {
  readonly keywords: JsonObject;
  readonly unsaid: readonly Unsaid[];
}

/** The field that has the rules, and the options of their translation. */
export interface RuleSubject {
  readonly field: DescField;
  readonly kind: ValueKind;
  /**
   * Whether the value must be set. A value of a field without presence is set if it is not the zero value. Defaults to
   * false.
   */
  readonly isRequired?: boolean;
  /** The keywords of CEL rules by the id of the rule. They replace the translation of the expression. */
  readonly keywordsByRule: Readonly<Record<string, JsonObject>>;
}

type Translate = (value: unknown, kind: ValueKind) => Translation;

const number =
  (keyword: string): Translate =>
  (value) =>
    keywords({ [keyword]: Number(value) });
/**
 * Returns no keyword for a rule of an enumeration, of list items or of map entries. Other functions translate these
 * rules. Nothing translates `enum.example`, so the document does not contain it.
 */
const saidElsewhere: Translate = () => SAID;

const translations: Readonly<Record<string, Translate>> = {
  "bool.const": (value, kind) => keywords({ const: kind === "key" ? String(value) : value === true }),
  "bool.example": (values) => keywords({ examples: Array.from(values as Iterable<boolean>) }),
  "bytes.max_len": (value) => keywords({ maxLength: Math.ceil(Number(value) / 3) * 4 }),
  "repeated.min_items": number("minItems"),
  "repeated.max_items": number("maxItems"),
  "repeated.unique": (value) => (value === true ? keywords({ uniqueItems: true }) : SAID),
  "repeated.items": saidElsewhere,
  "map.min_pairs": number("minProperties"),
  "map.max_pairs": number("maxProperties"),
  "map.keys": saidElsewhere,
  "map.values": saidElsewhere,
  "enum.const": saidElsewhere,
  "enum.defined_only": saidElsewhere,
  "enum.in": saidElsewhere,
  "enum.not_in": saidElsewhere,
  "enum.example": saidElsewhere,
};

/** The zero values by {@link ValueKind}, and by the protobuf type for values of the kind "other". */
const zeros: Readonly<Record<string, JsonObject>> = {
  string: { const: "" },
  number: { const: 0 },
  list: { maxItems: 0 },
  map: { maxProperties: 0 },
  bytes: { const: "" },
  bool: { const: false },
};

/**
 * Translates the rules of a field, of a list's items, or of a map's keys or values to keywords of JSON Schema. The
 * keywords accept every value that the rules accept. `unsaid` of the result lists the rules that the keywords do not
 * express in full.
 */
export function fieldRules(rules: FieldRules, subject: RuleSubject): ValueRules {
  if (rules.ignore === Ignore.ALWAYS) return { keywords: {}, unsaid: [] };
  const own = [
    ...rules.cel.map((rule) => cel(rule, subject)),
    ...rules.celExpression.map((expression) => cel({ id: expression, message: "", expression }, subject)),
  ];
  const required = subject.isRequired === true ? keywords(notZero(subject)) : SAID;
  const { schemas, unsaid } = joined([required, ...typeRules(rules, subject), ...own]);
  const merged = mergeKeywords(schemas);
  const isOptional = subject.isRequired !== true && ignoresZero(rules, subject.field) && Object.keys(merged).length > 0;
  return { keywords: isOptional ? unlessZero(rules.type.case ?? "", subject.kind, merged) : merged, unsaid };
}

function typeRules(fieldRulesMessage: FieldRules, subject: RuleSubject): Translation[] {
  const all = reflect(FieldRulesSchema, fieldRulesMessage);
  const type = all.fields.find(({ localName }) => localName === fieldRulesMessage.type.case);
  const rules = type === undefined ? undefined : all.get(type);
  if (type === undefined || !isReflectMessage(rules)) return [];
  const predefined = predefinedRules(rules, subject.field.parent.file);
  return [
    standardRules(type.name, rules, subject.kind),
    ...predefined.map(({ rule, value }) => cel(rule, subject, value)),
  ];
}

function standardRules(typeName: string, rules: ReflectMessage, kind: ValueKind): Translation {
  if (typeName === "string") return stringRules(rules);
  if (isNumberType(typeName)) return numberRules(typeName, rules, kind === "number");
  const set = rules.fields.filter((rule) => rules.isSet(rule));
  return joined(
    set.map((rule) => {
      const value: unknown = rules.get(rule);
      const translated = translations[`${typeName}.${rule.name}`]?.(value, kind);
      const isExact = translated !== undefined && typeName !== "bytes";
      const isOff = value === false || rule.name === "example";
      return {
        schemas: translated?.schemas ?? [],
        unsaid: isExact || isOff ? [] : [ruleSentence(typeName, rule, value)],
      };
    }),
  );
}

function cel(
  { id, message, expression }: Pick<Rule, "id" | "message" | "expression">,
  { kind, keywordsByRule }: RuleSubject,
  value?: string | number,
): Translation {
  return celKeywords({ id, message, expression, ...(value === undefined ? {} : { value }) }, kind, keywordsByRule[id]);
}

function unlessZero(typeName: string, kind: ValueKind, merged: JsonObject): JsonObject {
  const ofText = typeName === "bool" ? { const: "false" } : { const: "0" };
  const isText = kind === "key" || typeName.includes("64");
  const zero = isText ? ofText : (zeros[kind] ?? zeros[typeName]);
  return zero === undefined ? merged : { anyOf: [zero, merged] };
}

/** Returns the schema of all values except the zero value. */
function notZero({ kind, field }: RuleSubject): JsonObject {
  if (kind === "string" || field.scalar === ScalarType.BYTES) return { minLength: 1 };
  if (kind === "list") return { minItems: 1 };
  if (kind === "map") return { minProperties: 1 };
  if (field.scalar === ScalarType.BOOL) return { const: true };
  if (field.enum !== undefined) return { not: { const: field.enum.values[0]?.name ?? "" } };
  return { not: { const: kind === "number" ? 0 : "0" } };
}
