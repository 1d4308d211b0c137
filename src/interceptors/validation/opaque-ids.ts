import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { fieldRulesOf } from "../../proto-options.js";

/**
 * Whether a path field accepts any text, because its proto states no rule. A text that is not an id then gets the same
 * answer as an unknown id.
 */
export function isOpaqueId(field: DescField): boolean {
  return field.scalar === ScalarType.STRING && fieldRulesOf(field).type.case === undefined;
}
