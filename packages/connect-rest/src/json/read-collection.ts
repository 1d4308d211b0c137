import { create, type DescField } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { addViolation } from "../violations/collect-violations.js";
import { indexStep, keyStep } from "../violations/field-path.js";
import type { ReadInto, ReadName, ReadValue } from "./json-profile.js";
import { setField } from "./message-fields.js";
import { isJsonObject } from "./read-json.js";

/**
 * Creates the reader of a list with at most `maxItems` items. A longer list is a violation, and none of its items is
 * read. If `readItem` returns undefined, the item becomes a zero value, so that the list keeps its length.
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

/** Creates the reader of a map. It omits an entry if `readKey` or `readItem` returns undefined. */
export function mapReader(
  field: DescField & { readonly fieldKind: "map" },
  readKey: ReadName,
  readItem: ReadValue,
): ReadInto {
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
