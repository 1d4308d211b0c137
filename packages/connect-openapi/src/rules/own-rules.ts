import { create, type DescField, isFieldSet } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type FieldRules, FieldRulesSchema, Ignore } from "../gen/buf/validate/validate_pb.js";
import { fieldRulesOf, messageRulesOf } from "./options-of.js";

/**
 * Returns the rules of a field. If the field is in a oneof of the message's rules, its rules ignore a zero value. An
 * explicit `ignore` overrides this.
 */
export function ownRules(field: DescField): FieldRules {
  const rules = fieldRulesOf(field);
  if (isFieldSet(rules, FieldRulesSchema.field.ignore)) return rules;
  const { oneof } = messageRulesOf(field.parent);
  const isInChoice = oneof.some(({ fields }) => fields.includes(field.name));
  return isInChoice ? create(FieldRulesSchema, { ...rules, ignore: Ignore.IF_ZERO_VALUE }) : rules;
}

/**
 * Returns whether rules do not apply to the zero value of a field. In a field with presence they apply, because only
 * the caller can set it to zero.
 */
export function ignoresZero({ ignore }: FieldRules, { presence }: DescField): boolean {
  return ignore === Ignore.IF_ZERO_VALUE && presence === FeatureSet_FieldPresence.IMPLICIT;
}
