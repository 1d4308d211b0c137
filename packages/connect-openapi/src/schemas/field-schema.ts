import type { DescField, JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { FieldRules } from "../gen/buf/validate/validate_pb.js";
import { FieldBehavior } from "../gen/google/api/field_behavior_pb.js";
import type { ValueKind } from "../rules/cel-keywords.js";
import { fieldRules, type ValueRules } from "../rules/field-rules.js";
import { fieldBehaviorOf } from "../rules/options-of.js";
import { ownRules } from "../rules/own-rules.js";
import type { Unsaid } from "../rules/translation.js";
import { allowedValues } from "./enum-schema.js";
import type { FieldPath, SchemaContext } from "./schema-context.js";
import type { Direction } from "./schema-options.js";
import { keySchema, scalarKind, scalarSchema, valueKind } from "./value-schemas.js";

/** The direction for which a field is described, and the nested fields that its schema leaves out. */
export interface FieldPlace {
  readonly direction: Direction;
  /**
   * Paths of the nested fields that the schema leaves out. Each path begins with a field of the message type that the
   * described field has. Defaults to none.
   */
  readonly excluded?: readonly FieldPath[];
}

/** Returns the schema of a field: its ProtoJSON type, its rules and its proto comment. */
export function fieldSchema(field: DescField, place: FieldPlace, context: SchemaContext): JsonObject {
  const rules = ownRules(field);
  const { schema, unsaid } = shapeOf(field, rules, place, context);
  const description = [context.comment(field), ...context.sentences(unsaid, field)].filter(Boolean).join(" ");
  return context.finished(field, {
    ...schema,
    ...(description === "" ? {} : { description }),
    ...behavior(field),
  });
}

/** The schema of a value, and the rules that the schema does not express in full. */
interface Shape {
  readonly schema: JsonObject;
  readonly unsaid: ValueRules["unsaid"];
}

function shapeOf(field: DescField, rules: FieldRules, place: FieldPlace, context: SchemaContext): Shape {
  if (field.fieldKind === "list") return listShape(field, rules, place, context);
  if (field.fieldKind === "map") return mapShape(field, rules, place, context);
  const translated = translate(rules, field, valueKind(field), context, mustBeSet(rules, field, place));
  return {
    schema: { ...valueSchema(field, rules, place, context), ...translated.keywords },
    unsaid: translated.unsaid,
  };
}

function listShape(field: DescField, rules: FieldRules, place: FieldPlace, context: SchemaContext): Shape {
  const itemRules = rules.type.case === "repeated" ? rules.type.value.items : undefined;
  const ofList = translate(rules, field, "list", context, mustBeSet(rules, field, place));
  const ofItem = translate(itemRules, field, valueKind(field), context);
  const { items, ...keywords } = ofList.keywords;
  const item = { ...valueSchema(field, itemRules, place, context), ...Object(items), ...ofItem.keywords };
  return { schema: { type: "array", ...keywords, items: item }, unsaid: [...ofList.unsaid, ...ofItem.unsaid] };
}

function mapShape(
  field: DescField & { readonly fieldKind: "map" },
  rules: FieldRules,
  place: FieldPlace,
  context: SchemaContext,
): Shape {
  const ofEntries = rules.type.case === "map" ? rules.type.value : undefined;
  const ofMap = translate(rules, field, "map", context, mustBeSet(rules, field, place));
  const keyKind = scalarKind(field.mapKey) === "string" ? "string" : "key";
  const ofKey = translate(ofEntries?.keys, field, keyKind, context);
  const ofValue = translate(ofEntries?.values, field, valueKind(field), context);
  const names = { ...keySchema(field.mapKey), ...ofKey.keywords };
  return {
    schema: {
      type: "object",
      ...ofMap.keywords,
      ...(Object.keys(names).length === 0 ? {} : { propertyNames: names }),
      additionalProperties: { ...valueSchema(field, ofEntries?.values, place, context), ...ofValue.keywords },
    },
    unsaid: [...ofMap.unsaid, ...ofKey.unsaid.map(saidOfKey), ...ofValue.unsaid],
  };
}

/** Returns a rule of map keys with a sentence about keys, because the sentence is in the description of the map. */
function saidOfKey(rule: Unsaid): Unsaid {
  const text = rule.message || `\`${rule.expression}\``;
  return {
    ...rule,
    message: text.startsWith("the value ") ? text.replace("the value", "each key") : `each key: ${text}`,
  };
}

const NO_RULES: ValueRules = { keywords: {}, unsaid: [] };

function translate(
  rules: FieldRules | undefined,
  field: DescField,
  kind: ValueKind,
  context: SchemaContext,
  isRequired = false,
): ValueRules {
  if (rules === undefined) return NO_RULES;
  return fieldRules(rules, { field, kind, isRequired, keywordsByRule: context.options.keywordsByRule ?? {} });
}

/**
 * Returns whether a field must have a value other than zero. This is true for a required field without presence in a
 * request. In responses and errors, the rules of requests need not hold.
 */
function mustBeSet({ required }: FieldRules, { presence }: DescField, { direction }: FieldPlace): boolean {
  return required && presence === FeatureSet_FieldPresence.IMPLICIT && direction === "request";
}

function valueSchema(
  field: DescField,
  rules: FieldRules | undefined,
  { direction, excluded = [] }: FieldPlace,
  context: SchemaContext,
): JsonObject {
  if (field.enum !== undefined)
    return { ...context.enumReference(field.enum), ...allowedValues(field, field.enum, rules, context) };
  if (field.message !== undefined) return context.messageSchema(field.message, direction, excluded);
  return scalarSchema(field.scalar);
}

/**
 * Returns the annotations of a field: `readOnly` and `writeOnly` from google.api.field_behavior (AIP-203), and
 * `deprecated`.
 */
function behavior(field: DescField): JsonObject {
  const behaviors = fieldBehaviorOf(field);
  return {
    ...(behaviors.includes(FieldBehavior.OUTPUT_ONLY) ? { readOnly: true } : {}),
    ...(behaviors.includes(FieldBehavior.INPUT_ONLY) ? { writeOnly: true } : {}),
    ...(field.deprecated ? { deprecated: true } : {}),
  };
}
