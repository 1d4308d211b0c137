import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { fieldRulesOf } from "../../proto-options.js";

/**
 * Whether a path field accepts any text, because its proto states no rule. A text that is not an id is then answered
 * like an id of a resource that does not exist.
 */
export function isOpaqueId(field: DescField): boolean {
  return field.scalar === ScalarType.STRING && fieldRulesOf(field).type.case === undefined;
}
