import { create, type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior as fieldBehavior } from "../../gen/google/api/field_behavior_pb.js";
import { addUnknownField, addViolation, type Violations } from "../violations/collect-violations.js";
import { fieldStep, type Place, type Step } from "../violations/place.js";
import { childFields, type Fields, fieldsOf, oneofCase, setField } from "./message-fields.js";
import { listReader, mapReader, type ReadInto } from "./read-collection.js";
import { isJsonObject, type JsonTree } from "./read-json.js";
import { leafReader } from "./read-leaf.js";
import type { ReadValue } from "./read-scalar.js";

/** A field, and how a member of its name is read into it. */
export interface FieldReader {
  readonly field: DescField;
  readonly step: Step;
  readonly read: ReadInto;
}

/** What a reader is told beside the schema. */
export interface ReadRules {
  /** Fields, each by its path from a message down, that have another source than the JSON being read. */
  readonly excluded?: readonly (readonly DescField[])[];
  /** The most items that a list may have; undefined where there is no limit. Judged before any item is. */
  readonly maxItems?: ((field: DescField) => number | undefined) | undefined;
  /** Whether the JSON is a part of a resource that is changed by it, and so need not have what the whole one must. */
  readonly partial?: boolean;
}

/**
 * Compiles the reader of a message: strict ProtoJSON. A member must have the JSON name of a field that is not excluded; null
 * is a value of no type but google.protobuf.Value; of a oneof at most one member; a list or map whose
 * google.api.field_behavior is REQUIRED must have its member, because a message cannot tell it from an empty one.
 * Everything that is wrong is found, and what is right is read all the same.
 */
export function createMessageReader(schema: DescMessage, rules: ReadRules = {}): ReadInto {
  return messageReader(schema, { ...rules, known: new Map() });
}

/** Compiles the reader of one field, for a body that is that field alone. */
export function createFieldReader(field: DescField, rules: ReadRules = {}): FieldReader {
  return fieldReader(field, { ...rules, known: new Map() });
}

interface Compilation extends ReadRules {
  /** Readers of whole messages, by which messages that hold themselves come to an end. */
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
  parent: Place | undefined,
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
  parent: Place | undefined,
  violations: Violations,
): void {
  const at = { parent, step };
  const other = oneofCase(into, field);
  if (other === undefined || other === field.localName) read(value, into, at, violations);
  else addViolation(violations, "INVALID_VALUE", at, "another member of the same oneof has a value");
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
