import { create, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import { isWrapperDesc, StructSchema } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior as fieldBehavior } from "../../gen/google/api/field_behavior_pb.js";
import {
  addFinding,
  addUnknownMember,
  type Findings,
  fieldStep,
  indexStep,
  keyStep,
  type Location,
  type Step,
} from "../violations/findings.js";
import { childFields, type Fields, fieldsOf, oneofCase, setField } from "./message-fields.js";
import { enumReader } from "./read-enum.js";
import { isJsonObject, type JsonTree } from "./read-json.js";
import { mapKeyReader } from "./read-map-key.js";
import { type ReadValue, scalarReader } from "./read-scalar.js";
import { wellKnownReader } from "./read-well-known.js";

/** Reads a JSON object into the fields of a message, adding to what they hold. */
export type ReadInto = (tree: JsonTree, into: Fields, at: Location | undefined, findings: Findings) => void;

/** A field, and how a member of its name is read into it. */
export interface FieldReader {
  readonly field: DescField;
  readonly step: Step;
  readonly read: ReadInto;
}

/** Fields, each by its path from a message down, that have another source than the JSON being read. */
export type Excluded = readonly (readonly DescField[])[];

/**
 * Compiles the reader of a message: strict ProtoJSON. A member must have the JSON name of a field that is not in
 * `excluded`; null is a value of no type but google.protobuf.Value; of a oneof at most one member; a list or map whose
 * google.api.field_behavior is REQUIRED must have its member, because a message cannot tell it from an empty one.
 * Everything that is wrong is found, and what is right is read all the same; a list keeps its length, with a zero value where an item is wrong.
 */
export function createMessageReader(schema: DescMessage, excluded: Excluded = []): ReadInto {
  return messageReader(schema, excluded, new Map());
}

/** Compiles the reader of one field, for a body that is that field alone. */
export function createFieldReader(field: DescField, excluded: Excluded = []): FieldReader {
  return fieldReader(field, excluded, new Map());
}

/** Whether values of the field are scalars, enums or messages with a JSON form of their own, or lists of them. */
export function isLeaf(field: DescField): boolean {
  return field.fieldKind !== "map" && leafReader(field) !== undefined;
}

type Compiled = Map<DescMessage, ReadInto>;

function messageReader(schema: DescMessage, excluded: Excluded, compiled: Compiled): ReadInto {
  const known = excluded.length === 0 ? compiled.get(schema) : undefined;
  if (known !== undefined) return known;
  const members = new Map<string, FieldReader>();
  const required: FieldReader[] = [];
  const read: ReadInto = (tree, into, at, findings) => {
    if (isJsonObject(tree)) {
      readMembers(members, tree, into, at, findings);
      for (const { step, field } of required) {
        if (!tree.has(field.jsonName)) addFinding(findings, "REQUIRED", { parent: at, step }, "the value is required");
      }
    } else addFinding(findings, "INVALID_TYPE", at, "the value must be an object");
  };
  if (excluded.length === 0) compiled.set(schema, read);
  for (const field of schema.fields) {
    const within = excluded.filter(([first]) => first === field).map((path) => path.slice(1));
    if (within.some((path) => path.length === 0)) continue;
    const member = fieldReader(field, within, compiled);
    members.set(field.jsonName, member);
    if (mustBeSent(field)) required.push(member);
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
  parent: Location | undefined,
  findings: Findings,
): void {
  for (const [name, value] of tree) {
    const member = members.get(name);
    if (member === undefined) addUnknownMember(findings, parent, name);
    else readMember(member, value, into, parent, findings);
  }
}

function readMember(
  { field, step, read }: FieldReader,
  value: JsonTree,
  into: Fields,
  parent: Location | undefined,
  findings: Findings,
): void {
  const at = { parent, step };
  const other = oneofCase(into, field);
  if (other === undefined || other === field.localName) read(value, into, at, findings);
  else addFinding(findings, "INVALID_VALUE", at, "another member of the same oneof has a value");
}

function fieldReader(field: DescField, excluded: Excluded, compiled: Compiled): FieldReader {
  return { field, step: fieldStep(field), read: readerInto(field, excluded, compiled) };
}

function readerInto(field: DescField, excluded: Excluded, compiled: Compiled): ReadInto {
  if (field.fieldKind === "list") return listReader(field, itemReader(field, compiled));
  if (field.fieldKind === "map") return mapReader(field, itemReader(field, compiled));
  const leaf = leafReader(field);
  if (leaf === undefined && field.fieldKind === "message") {
    const read = messageReader(field.message, excluded, compiled);
    return (tree, into, at, findings) => read(tree, childFields(into, field), at, findings);
  }
  return (tree, into, at, findings) => {
    const value = leaf?.(tree, at, findings);
    if (value !== undefined) setField(into, field, value);
  };
}

function leafReader(field: DescField): ReadValue | undefined {
  if (field.scalar !== undefined) return scalarReader(field.scalar, "longAsString" in field && field.longAsString);
  if (field.enum !== undefined) return enumReader(field.enum);
  if (field.message === undefined) return undefined;
  return isWrapperDesc(field.message) ? wrapperReader(field, field.message) : wellKnownReader(field.message);
}

function itemReader(field: DescField, compiled: Compiled): ReadValue {
  const leaf = leafReader(field);
  const schema = field.message;
  if (leaf !== undefined || schema === undefined) return leaf ?? (() => undefined);
  const read = messageReader(schema, [], compiled);
  return (tree, at, findings) => {
    const item = create(schema);
    read(tree, fieldsOf(item), at, findings);
    return item;
  };
}

function listReader(field: DescField & { readonly fieldKind: "list" }, readItem: ReadValue): ReadInto {
  return (tree, into, parent, findings) => {
    if (!Array.isArray(tree)) {
      addFinding(findings, "INVALID_TYPE", parent, "the value must be an array");
      return;
    }
    const items = tree.map(
      (item, index) => readItem(item, { parent, step: indexStep(index) }, findings) ?? zero(field),
    );
    setField(into, field, items);
  };
}

function zero(field: DescField & { readonly fieldKind: "list" }): unknown {
  if (field.listKind === "scalar") return scalarZeroValue(field.scalar, field.longAsString);
  if (field.listKind === "enum") return field.enum.values[0]?.number;
  return field.message.typeName === StructSchema.typeName ? {} : create(field.message);
}

function mapReader(field: DescField & { readonly fieldKind: "map" }, readItem: ReadValue): ReadInto {
  const readKey = mapKeyReader(field.mapKey);
  return (tree, into, parent, findings) => {
    if (!isJsonObject(tree)) {
      addFinding(findings, "INVALID_TYPE", parent, "the value must be an object");
      return;
    }
    const entries: Record<string, unknown> = {};
    let order = 0;
    for (const [name, member] of tree) {
      const at = { parent, step: keyStep(name, order++) };
      const key = readKey(name, at, findings);
      const value = readItem(member, at, findings);
      if (key !== undefined && value !== undefined) entries[key] = value;
    }
    setField(into, field, entries);
  };
}

function wrapperReader(field: DescField, wrapper: DescMessage): ReadValue {
  const read = scalarReader(wrapper.fields[0]?.scalar ?? ScalarType.STRING);
  if (field.fieldKind === "message" && field.oneof === undefined) return read;
  return (tree, at, findings) => {
    const value = read(tree, at, findings);
    return value === undefined ? undefined : create(wrapper, { value });
  };
}
