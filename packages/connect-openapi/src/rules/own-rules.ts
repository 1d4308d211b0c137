import { create, type DescField, isFieldSet } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type FieldRules, FieldRulesSchema, Ignore } from "../gen/buf/validate/validate_pb.js";
import { fieldRulesOf, messageRulesOf } from "./options-of.js";

/**
 * Returns the protovalidate rules of a field. If a `oneof` in the rules of the message contains the field, the returned
 * rules have `ignore: IF_ZERO_VALUE`, unless the field sets `ignore` itself.
 */
export function ownRules(field: DescField): FieldRules {
  const rules = fieldRulesOf(field);
  if (isFieldSet(rules, FieldRulesSchema.field.ignore)) return rules;
  const { oneof } = messageRulesOf(field.parent);
  const isInChoice = oneof.some(({ fields }) => fields.includes(field.name));
  return isInChoice ? create(FieldRulesSchema, { ...rules, ignore: Ignore.IF_ZERO_VALUE }) : rules;
}

/**
 * Returns whether the rules skip the zero value of a field. In a field with explicit presence the rules apply to zero,
 * because the caller has set this zero.
 */
export function ignoresZero({ ignore }: FieldRules, { presence }: DescField): boolean {
  return ignore === Ignore.IF_ZERO_VALUE && presence === FeatureSet_FieldPresence.IMPLICIT;
}
