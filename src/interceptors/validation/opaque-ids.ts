import { type DescField, getOption, ScalarType } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/**
 * Whether a path field accepts any text, because its proto states no rule. A text that is not an id is then answered
 * like an id of a resource that does not exist.
 */
export function isOpaqueId(field: DescField): boolean {
  return field.scalar === ScalarType.STRING && getOption(field, fieldRules).type.case === undefined;
}
