import type { DescField } from "@bufbuild/protobuf";
import type { ReadInto } from "../json-profile.js";
import { isJsonObject, type JsonTree } from "../read-json.js";

/**
 * Returns a reader that ignores `null` and leaves the field as it is. In a singular field of type google.protobuf.Value
 * or google.protobuf.NullValue, `null` is a value and is read.
 */
export function nullableField(field: DescField, read: ReadInto): ReadInto {
  if (field.fieldKind === "message" && field.message.typeName === "google.protobuf.Value") return read;
  if (field.fieldKind === "enum" && field.enum.typeName === "google.protobuf.NullValue") return read;
  return (tree, into, at, violations) => {
    if (tree !== null) read(tree, into, at, violations);
  };
}

/**
 * Returns a reader that ignores unknown names of enum values. A field whose value is an unknown name counts as absent.
 * A list item or map entry whose value is an unknown name is omitted.
 */
export function withoutUnknownEnumNames(field: DescField, read: ReadInto): ReadInto {
  const { enum: schema } = field;
  if (schema === undefined) return read;
  const names = new Set(schema.values.map(({ name }) => name));
  const isKnown = (tree: JsonTree) => typeof tree !== "string" || names.has(tree);
  return (tree, into, at, violations) => {
    if (Array.isArray(tree)) read(tree.filter(isKnown), into, at, violations);
    else if (isJsonObject(tree)) read(new Map([...tree].filter(([, item]) => isKnown(item))), into, at, violations);
    else if (isKnown(tree)) read(tree, into, at, violations);
  };
}
