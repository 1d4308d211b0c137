import { type DescEnum, type DescField, isFieldSet, type JsonObject } from "@bufbuild/protobuf";
import { EnumRulesSchema, type FieldRules, Ignore } from "../gen/buf/validate/validate_pb.js";
import { ignoresZero } from "../rules/own-rules.js";
import type { SchemaContext } from "./schema-context.js";

/** Returns the schema of an enumeration: the names of the values that `enumValues` returns, and their comments. */
export function enumSchema(definition: DescEnum, { comment, enumValues, finished }: SchemaContext): JsonObject {
  const values = enumValues(definition);
  const listed = values.flatMap((value) => {
    const text = comment(value);
    return text === undefined ? [] : [`- \`${value.name}\`: ${text}`];
  });
  const description = [comment(definition), listed.join("\n")].filter(Boolean).join("\n\n");
  return finished(definition, {
    type: "string",
    ...(description === "" ? {} : { description }),
    enum: values.map(({ name }) => name),
  });
}

/**
 * Returns an `enum` of the values that the rules of a field allow. Returns {} if they allow all values that
 * `enumValues` returns.
 */
export function allowedValues(
  field: DescField,
  definition: DescEnum,
  rules: FieldRules | undefined,
  { enumValues }: SchemaContext,
): JsonObject {
  if (rules?.type.case !== "enum" || rules.ignore === Ignore.ALWAYS) return {};
  const { const: fixed, in: only, notIn } = rules.type.value;
  const isFixed = isFieldSet(rules.type.value, EnumRulesSchema.field.const);
  const isZeroIgnored = ignoresZero(rules, field);
  const isLeft = (number: number) =>
    (isZeroIgnored && number === 0) ||
    ((!isFixed || number === fixed) && (only.length === 0 || only.includes(number)) && !notIn.includes(number));
  const left = definition.values.filter(({ number }) => isLeft(number)).map(({ name }) => name);
  return enumValues(definition).every(({ name }) => left.includes(name)) ? {} : { enum: left };
}
