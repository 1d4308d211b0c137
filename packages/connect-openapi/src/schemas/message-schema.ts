import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { Ignore } from "../gen/buf/validate/validate_pb.js";
import { FieldBehavior } from "../gen/google/api/field_behavior_pb.js";
import { mergeKeywords } from "../rules/merge-keywords.js";
import { fieldBehaviorOf, fieldRulesOf, messageRulesOf } from "../rules/options-of.js";
import type { Unsaid } from "../rules/translation.js";
import { fieldSchema } from "./field-schema.js";
import { oneofKeywords } from "./oneof-keywords.js";
import type { FieldPath, SchemaContext } from "./schema-context.js";
import type { Direction } from "./schema-options.js";

/** Returns the schema of a message without the `excluded` paths, with its rules and its proto comment. */
export function messageSchema(
  message: DescMessage,
  direction: Direction,
  excluded: readonly FieldPath[],
  context: SchemaContext,
): JsonObject {
  const isExcluded = (field: DescField) => excluded.some((path) => path.length === 1 && path[0] === field);
  const fields = message.fields.filter((field) => !isExcluded(field));
  const below = (field: DescField) => excluded.filter(([first]) => first === field).map((path) => path.slice(1));
  const properties = fields.map((field) => [
    field.jsonName,
    fieldSchema(field, { direction, excluded: below(field) }, context),
  ]);
  const required = fields.filter((field) => isRequired(field, direction, context)).map(({ jsonName }) => jsonName);
  const choices = oneofKeywords(message, fields);
  const sentences = context.sentences([...celRules(message), ...choices.unsaid], message);
  const description = [context.comment(message), ...sentences].filter(Boolean).join("\n\n");
  return context.finished(message, {
    type: "object",
    ...(description === "" ? {} : { description }),
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...mergeKeywords(choices.schemas),
    ...(direction === "request" ? { additionalProperties: false } : {}),
  });
}

/**
 * Returns whether a field is required in a direction. If the option `isRequired` returns undefined, the default of the
 * option applies.
 */
export function isRequired(field: DescField, direction: Direction, { options }: SchemaContext): boolean {
  const own = options.isRequired?.(field, direction);
  if (own !== undefined) return own;
  const behaviors = fieldBehaviorOf(field);
  if (direction === "request" && behaviors.includes(FieldBehavior.OUTPUT_ONLY)) return false;
  if (direction === "response" && behaviors.includes(FieldBehavior.INPUT_ONLY)) return false;
  const { required, ignore } = fieldRulesOf(field);
  if (required && ignore !== Ignore.ALWAYS) return true;
  if (behaviors.includes(FieldBehavior.REQUIRED)) return true;
  if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return true;
  return direction === "response" && field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/**
 * Returns the CEL rules of a whole message. None is translated, because JSON Schema has no keywords for rules over
 * several fields.
 */
function celRules(message: DescMessage): Unsaid[] {
  const { cel, celExpression } = messageRulesOf(message);
  return [
    ...cel.map(({ id, message: text, expression }) => ({ id, message: text, expression, reason: "FORM" as const })),
    ...celExpression.map((expression) => ({ id: expression, message: "", expression, reason: "FORM" as const })),
  ];
}
