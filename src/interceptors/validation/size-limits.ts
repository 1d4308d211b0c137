import { type DescField, type DescMessage, getExtension, getOption, ScalarType } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldRules,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { file_cupo_options_v1_rules as projectRules } from "../../gen/cupo/options/v1/rules_pb.js";

/** The most that the rules of a field allow, as the proto states it. */
export interface SizeLimit {
  readonly field: DescField;
  /** The rule that the limit stands in, as protovalidate calls it. */
  readonly ruleId: "repeated.max_items" | "string.max_len";
  /** Items of a list, or code points of a text. */
  readonly limit: number;
}

/** The project's rules of texts that are numbers: each is the most code points that the text may have. */
const lengthRules = projectRules.extensions.filter(
  ({ extendee, scalar }) => extendee.typeName === StringRulesSchema.typeName && scalar === ScalarType.INT32,
);

const limits = new WeakMap<DescMessage, readonly SizeLimit[]>();

/** The limits of the lists and of the single texts of a message, in the order of its fields. */
export function sizeLimits(schema: DescMessage): readonly SizeLimit[] {
  const known = limits.get(schema);
  if (known !== undefined) return known;
  const found = schema.fields.flatMap((field) => limitOf(field) ?? []);
  limits.set(schema, found);
  return found;
}

/** The most items that a list may have; undefined where its rules state no limit, and for every other field. */
export function maxItemsOf(field: DescField): number | undefined {
  const { type } = getOption(field, fieldRules);
  if (field.fieldKind !== "list" || type.case !== "repeated" || type.value.maxItems === 0n) return undefined;
  return Number(type.value.maxItems);
}

function limitOf(field: DescField): SizeLimit | undefined {
  const maxItems = maxItemsOf(field);
  if (maxItems !== undefined) return { field, ruleId: "repeated.max_items", limit: maxItems };
  const maxCodePoints = field.fieldKind === "scalar" ? maxCodePointsOf(getOption(field, fieldRules)) : undefined;
  return maxCodePoints === undefined ? undefined : { field, ruleId: "string.max_len", limit: maxCodePoints };
}

function maxCodePointsOf({ type }: FieldRules): number | undefined {
  if (type.case !== "string") return undefined;
  const stated = [type.value.maxLen, ...lengthRules.map((rule) => getExtension(type.value, rule))];
  return stated.map(Number).find((limit) => limit > 0);
}
