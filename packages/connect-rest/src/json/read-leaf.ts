import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { JsonProfile, ReadValue } from "./json-profile.js";

/**
 * Returns whether the values of the field are scalars, enums, or messages with a special JSON form. For a list, the
 * type of its items decides. Maps and google.protobuf.Any are not leaves.
 */
export function isLeaf(field: DescField, profile: JsonProfile): boolean {
  return field.fieldKind !== "map" && leafReader(field, profile) !== undefined;
}

/**
 * Returns the function that reads a value of the field. For a list, it reads one item. For a map, it reads the value of
 * one entry. Returns undefined for google.protobuf.Any and for messages without a special JSON form.
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
