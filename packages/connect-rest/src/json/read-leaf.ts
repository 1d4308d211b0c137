import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { JsonProfile, ReadValue } from "./json-profile.js";

/**
 * Returns whether the field is not a map and its values are scalars, enums, or messages with a JSON form of their own,
 * except google.protobuf.Any.
 */
export function isLeaf(field: DescField, profile: JsonProfile): boolean {
  return field.fieldKind !== "map" && leafReader(field, profile) !== undefined;
}

/**
 * Returns the reader of a field's value; for a list or a map, of one item or entry. Returns undefined when the value is
 * a message with members.
 */
export function leafReader(field: DescField, profile: JsonProfile): ReadValue | undefined {
  if (field.scalar !== undefined) {
    return profile.scalarReader(field.scalar, "longAsString" in field && field.longAsString);
  }
  if (field.enum !== undefined) return profile.enumReader(field.enum);
  if (field.message === undefined) return undefined;
  if (!isWrapperDesc(field.message)) return profile.wellKnownReader(field.message);
  const isUnwrapped = field.fieldKind === "message" && field.oneof === undefined;
  return isUnwrapped ? wrappedReader(field.message, profile) : wrapperReader(field.message, profile);
}

/** Returns the reader of a wrapper type, such as google.protobuf.Int32Value. The reader returns the wrapper message. */
export function wrapperReader(wrapper: DescMessage, profile: JsonProfile): ReadValue {
  const read = wrappedReader(wrapper, profile);
  return (tree, at, violations) => {
    const value = read(tree, at, violations);
    return value === undefined ? undefined : create(wrapper, { value });
  };
}

function wrappedReader(wrapper: DescMessage, profile: JsonProfile): ReadValue {
  return profile.scalarReader(wrapper.fields[0]?.scalar ?? ScalarType.STRING);
}
