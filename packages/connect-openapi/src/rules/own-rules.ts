import { create, type DescField, getOption, isFieldSet } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldRulesOption,
  Ignore,
  message as messageRulesOption,
} from "../gen/buf/validate/validate_pb.js";

/**
 * Returns the rules of a field. Those of a field in a oneof of the message's rules ignore a zero value unless they say
 * otherwise.
 */
export function ownRules(field: DescField): FieldRules {
  const rules = getOption(field, fieldRulesOption);
  if (isFieldSet(rules, FieldRulesSchema.field.ignore)) return rules;
  const { oneof } = getOption(field.parent, messageRulesOption);
  const isInChoice = oneof.some(({ fields }) => fields.includes(field.name));
  return isInChoice ? create(FieldRulesSchema, { ...rules, ignore: Ignore.IF_ZERO_VALUE }) : rules;
}

/**
 * Returns whether rules do not apply to the zero value of a field. In a field with presence they do: it is zero only if
 * the caller says so.
 */
export function ignoresZero({ ignore }: FieldRules, { presence }: DescField): boolean {
  return ignore === Ignore.IF_ZERO_VALUE && presence === FeatureSet_FieldPresence.IMPLICIT;
}
