import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { enumReader } from "./read-enum.js";
import { type ReadValue, scalarReader } from "./read-scalar.js";
import { wellKnownReader } from "./read-well-known.js";

/**
 * Returns whether the field is not a map and its values are scalars, enums, or messages with a JSON form of their own.
 */
export function isLeaf(field: DescField): boolean {
  return field.fieldKind !== "map" && leafReader(field) !== undefined;
}

/**
 * Returns the reader of one value of a field, its list or its map. Returns undefined when the value is a message with
 * members.
 */
export function leafReader(field: DescField): ReadValue | undefined {
  if (field.scalar !== undefined) return scalarReader(field.scalar, "longAsString" in field && field.longAsString);
  if (field.enum !== undefined) return enumReader(field.enum);
  if (field.message === undefined) return undefined;
  return isWrapperDesc(field.message) ? wrapperReader(field, field.message) : wellKnownReader(field.message);
}

function wrapperReader(field: DescField, wrapper: DescMessage): ReadValue {
  const read = scalarReader(wrapper.fields[0]?.scalar ?? ScalarType.STRING);
  if (field.fieldKind === "message" && field.oneof === undefined) return read;
  return (tree, at, violations) => {
    const value = read(tree, at, violations);
    return value === undefined ? undefined : create(wrapper, { value });
  };
}
