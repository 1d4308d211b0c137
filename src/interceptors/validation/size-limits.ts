import { type DescField, type DescMessage, getExtension, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, Ignore, StringRulesSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { file_cupo_options_v1_rules as projectRules } from "../../gen/cupo/options/v1/rules_pb.js";
import { memoized } from "../../memoized.js";
import { fieldRulesOf } from "../../proto-options.js";

/** The largest size that the proto allows for a field. */
export interface SizeLimit {
  readonly field: DescField;
  /** The protovalidate rule that states the limit. */
  readonly ruleId: "repeated.max_items" | "string.max_len";
  /** The maximum number of items of a list, or of code points of a text. */
  readonly limit: number;
}

/** The project's rules that limit the length of a text. The value of each rule is the maximum number of code points. */
const lengthRules = projectRules.extensions.filter(
  ({ extendee, scalar }) => extendee.typeName === StringRulesSchema.typeName && scalar === ScalarType.INT32,
);

/** Returns the limits of the lists and texts of a message, in the order of its fields. Omits texts in lists. */
export function sizeLimits(schema: DescMessage): readonly SizeLimit[] {
  return schema.fields.flatMap((field) => limitOf(field) ?? []);
}

/**
 * Returns the maximum number of items that a list may have. Returns undefined if the rules of the field state no limit
 * or the field is not a list.
 */
export function maxItemsOf(field: DescField): number | undefined {
  const { type } = fieldRulesOf(field);
  if (field.fieldKind !== "list" || type.case !== "repeated" || type.value.maxItems === 0n) return undefined;
  return Number(type.value.maxItems);
}

/**
 * Whether the items of a field are validated together with the message. If the rules of a list ignore its items, the
 * operation validates each item itself.
 */
export function areItemsJudged(field: DescField): boolean {
  const { type } = fieldRulesOf(field);
  return type.case !== "repeated" || type.value.items?.ignore !== Ignore.ALWAYS;
}

function limitOf(field: DescField): SizeLimit | undefined {
  const maxItems = maxItemsOf(field);
  if (maxItems !== undefined) return { field, ruleId: "repeated.max_items", limit: maxItems };
  const maxCodePoints = field.fieldKind === "scalar" ? maxCodePointsOf(fieldRulesOf(field)) : undefined;
  return maxCodePoints === undefined ? undefined : { field, ruleId: "string.max_len", limit: maxCodePoints };
}

const maxCodePointsOf = memoized(({ type }: FieldRules): number | undefined => {
  if (type.case !== "string") return undefined;
  const stated = [type.value.maxLen, ...lengthRules.map((rule) => getExtension(type.value, rule))];
  return stated.map(Number).find((limit) => limit > 0);
});
