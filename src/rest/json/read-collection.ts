import { create, type DescField } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { indexStep, keyStep, type Place } from "../violations/place.js";
import { type Fields, setField } from "./message-fields.js";
import { isJsonObject, type JsonTree } from "./read-json.js";
import { mapKeyReader } from "./read-map-key.js";
import type { ReadValue } from "./read-scalar.js";

/** Reads a JSON value into the fields of a message, adding to what they hold. */
export type ReadInto = (tree: JsonTree, into: Fields, at: Place | undefined, violations: Violations) => void;

/**
 * The reader of a list of at most `maxItems`: of a longer one nothing is read. A list keeps its length, with a zero value
 * where an item is wrong.
 */
export function listReader(
  field: DescField & { readonly fieldKind: "list" },
  readItem: ReadValue,
  maxItems = Number.POSITIVE_INFINITY,
): ReadInto {
  return (tree, into, parent, violations) => {
    if (!Array.isArray(tree)) {
      addViolation(violations, "INVALID_TYPE", parent, "the value must be an array");
    } else if (tree.length > maxItems) {
      addViolation(violations, "TOO_MANY", parent, `the list must have at most ${maxItems} items`);
    } else {
      const items = tree.map(
        (item, index) => readItem(item, { parent, step: indexStep(index) }, violations) ?? zero(field),
      );
      setField(into, field, items);
    }
  };
}

function zero(field: DescField & { readonly fieldKind: "list" }): unknown {
  if (field.listKind === "scalar") return scalarZeroValue(field.scalar, field.longAsString);
  if (field.listKind === "enum") return field.enum.values[0]?.number;
  return field.message.typeName === StructSchema.typeName ? {} : create(field.message);
}

/** The reader of a map. An entry with a wrong key or value is left out. */
export function mapReader(field: DescField & { readonly fieldKind: "map" }, readItem: ReadValue): ReadInto {
  const readKey = mapKeyReader(field.mapKey);
  return (tree, into, parent, violations) => {
    if (!isJsonObject(tree)) {
      addViolation(violations, "INVALID_TYPE", parent, "the value must be an object");
      return;
    }
    const entries: Record<string, unknown> = {};
    let order = 0;
    for (const [name, member] of tree) {
      const at = { parent, step: keyStep(name, order++) };
      const key = readKey(name, at, violations);
      const value = readItem(member, at, violations);
      if (key !== undefined && value !== undefined) entries[key] = value;
    }
    setField(into, field, entries);
  };
}
