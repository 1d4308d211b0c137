import { create, type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior as fieldBehavior } from "../gen/google/api/field_behavior_pb.js";
import { addUnknownField, addViolation, type Violations } from "../violations/collect-violations.js";
import { type FieldPath, fieldStep, type Step } from "../violations/field-path.js";
import { childFields, type Fields, fieldsOf, oneofCase, setField } from "./message-fields.js";
import { listReader, mapReader, type ReadInto } from "./read-collection.js";
import { isJsonObject, type JsonTree } from "./read-json.js";
import { leafReader } from "./read-leaf.js";
import type { ReadValue } from "./read-scalar.js";

/** A field and the reader of its value. */
export interface FieldReader {
  readonly field: DescField;
  readonly step: Step;
  readonly read: ReadInto;
}

/** Rules for reading, in addition to the schema. */
export interface ReadRules {
  /** Paths of fields, from the message down, that are not read from this JSON. */
  readonly excluded?: readonly (readonly DescField[])[];
  /** Returns the maximum number of items of a list, or undefined for no limit. Checked before any item is read. */
  readonly maxItems?: ((field: DescField) => number | undefined) | undefined;
  /** Whether the JSON changes only part of a resource. Required lists and maps may then be absent. */
  readonly partial?: boolean;
}

/**
 * Compiles the reader of a message: strict ProtoJSON.
 * - A member must have the JSON name of a field that is not excluded.
 * - null is a value only of google.protobuf.Value and google.protobuf.NullValue.
 * - At most one member of a oneof may be present.
 * - A list or map with the google.api.field_behavior REQUIRED must be present. A message cannot distinguish an absent
 *   one from an empty one.
 *
 * The reader reports every violation and still reads all valid values.
 */
export function createMessageReader(schema: DescMessage, rules: ReadRules = {}): ReadInto {
  return messageReader(schema, { ...rules, known: new Map() });
}

/** Compiles the reader of one field, for a body that contains only this field. */
export function createFieldReader(field: DescField, rules: ReadRules = {}): FieldReader {
  return fieldReader(field, { ...rules, known: new Map() });
}

interface Compilation extends ReadRules {
  /** The readers of whole messages so far. Recursive messages reuse them, which ends the recursion. */
  readonly known: Map<DescMessage, ReadInto>;
}

function messageReader(schema: DescMessage, compilation: Compilation): ReadInto {
  const { excluded = [], known } = compilation;
  const found = excluded.length === 0 ? known.get(schema) : undefined;
  if (found !== undefined) return found;
  const members = new Map<string, FieldReader>();
  const required: FieldReader[] = [];
  const read: ReadInto = (tree, into, at, violations) => {
    if (!isJsonObject(tree)) {
      addViolation(violations, "INVALID_TYPE", at, "the value must be an object");
      return;
    }
    readMembers(members, tree, into, at, violations);
    for (const { step, field } of required) {
      if (!tree.has(field.jsonName))
        addViolation(violations, "REQUIRED", { parent: at, step }, "the value is required");
    }
  };
  if (excluded.length === 0) known.set(schema, read);
  for (const field of schema.fields) {
    const within = excluded.filter(([first]) => first === field).map((path) => path.slice(1));
    if (within.some((path) => path.length === 0)) continue;
    const member = fieldReader(field, { ...compilation, excluded: within });
    members.set(field.jsonName, member);
    if (compilation.partial !== true && mustBeSent(field)) required.push(member);
  }
  return read;
}

function mustBeSent(field: DescField): boolean {
  const isCollection = field.fieldKind === "list" || field.fieldKind === "map";
  return isCollection && getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED);
}

function readMembers(
  members: ReadonlyMap<string, FieldReader>,
  tree: ReadonlyMap<string, JsonTree>,
  into: Fields,
  parent: FieldPath | undefined,
  violations: Violations,
): void {
  for (const [name, value] of tree) {
    const member = members.get(name);
    if (member === undefined) addUnknownField(violations, parent, name);
    else readMember(member, value, into, parent, violations);
  }
}

function readMember(
  { field, step, read }: FieldReader,
  value: JsonTree,
  into: Fields,
  parent: FieldPath | undefined,
  violations: Violations,
): void {
  const at = { parent, step };
  const other = oneofCase(into, field);
  if (other === undefined || other === field.localName) read(value, into, at, violations);
  else addViolation(violations, "INVALID_VALUE", at, "another member of the same oneof is already set");
}

function fieldReader(field: DescField, compilation: Compilation): FieldReader {
  return { field, step: fieldStep(field), read: readerInto(field, compilation) };
}

function readerInto(field: DescField, compilation: Compilation): ReadInto {
  if (field.fieldKind === "list") {
    return listReader(field, itemReader(field, compilation), compilation.maxItems?.(field));
  }
  if (field.fieldKind === "map") return mapReader(field, itemReader(field, compilation));
  const leaf = leafReader(field);
  if (leaf === undefined && field.fieldKind === "message") {
    const read = messageReader(field.message, compilation);
    return (tree, into, at, violations) => read(tree, childFields(into, field), at, violations);
  }
  return (tree, into, at, violations) => {
    const value = leaf?.(tree, at, violations);
    if (value !== undefined) setField(into, field, value);
  };
}

function itemReader(field: DescField, compilation: Compilation): ReadValue {
  const leaf = leafReader(field);
  const schema = field.message;
  if (leaf !== undefined || schema === undefined) return leaf ?? (() => undefined);
  const read = messageReader(schema, { ...compilation, excluded: [] });
  return (tree, at, violations) => {
    const item = create(schema);
    read(tree, fieldsOf(item), at, violations);
    return item;
  };
}
