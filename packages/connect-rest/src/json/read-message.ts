import { create, type DescField, type DescMessage, getOption, type Registry } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior as fieldBehavior } from "../gen/google/api/field_behavior_pb.js";
import { lazily } from "../lazily.js";
import { addViolation } from "../violations/collect-violations.js";
import { fieldStep } from "../violations/field-path.js";
import type { JsonProfile, ReadInto, ReadValue } from "./json-profile.js";
import { childFields, fieldsOf, setField } from "./message-fields.js";
import { anyReader } from "./read-any.js";
import { listReader, mapReader } from "./read-collection.js";
import { isJsonObject } from "./read-json.js";
import { leafReader } from "./read-leaf.js";
import { mapKeyReader } from "./read-map-key.js";
import { type FieldReader, membersOf, oneofReader, readMembers } from "./read-members.js";
import { strictProfile } from "./strict/strict-profile.js";

/**
 * A path to a field. The first item is a field of the message. Each further item is a field of the message that the
 * previous item contains.
 */
type FieldNames = readonly DescField[];

/** Rules for reading, in addition to the schema. */
export interface ReadRules {
  /** The profile that decides which forms of values are accepted. Defaults to the strict profile. */
  readonly profile?: JsonProfile;
  /** The types that google.protobuf.Any may contain. Defaults to none: no Any can be read. */
  readonly registry?: Registry | undefined;
  /** Paths of fields that count as unknown names in the JSON. The profile decides whether these are violations. */
  readonly excluded?: readonly FieldNames[];
  /** Paths of fields that the JSON may contain, but whose values are not read. */
  readonly ignored?: readonly FieldNames[];
  /** Returns the maximum number of items of a list, or undefined for no limit. Checked before any item is read. */
  readonly maxItems?: ((field: DescField) => number | undefined) | undefined;
  /**
   * Whether the JSON changes only part of a resource, as the body of a PATCH does if it is one field of the request.
   * Required lists and maps may then be absent. Defaults to false.
   */
  readonly partial?: boolean;
}

/**
 * Returns a function that reads a message from ProtoJSON by the rules of the profile. The function reports every
 * violation and still reads the valid values. These rules apply too:
 * - A member must have the name of a field that is not excluded, unless the profile ignores unknown names.
 * - At most one member of a oneof may be present.
 * - A list or map with the google.api.field_behavior REQUIRED must be present, if the profile requires it and `partial`
 *   is not true. The function checks this because a message does not show whether an empty list was present.
 */
export function createMessageReader(schema: DescMessage, rules: ReadRules = {}): ReadInto {
  return messageReader(schema, compilationOf(rules));
}

/** Compiles the reader of one field, for a body or a parameter that contains only the value of this field. */
export function createFieldReader(field: DescField, rules: ReadRules = {}): FieldReader {
  const compilation = compilationOf(rules);
  const read = compilation.profile.fieldReader(field, readerInto(field, compilation));
  return { field, step: fieldStep(field), read };
}

interface Compilation extends ReadRules {
  readonly profile: JsonProfile;
  readonly readAny: ReadValue;
  readonly excluded: readonly FieldNames[];
  readonly ignored: readonly FieldNames[];
  /** The compiled readers by message type. Readers that exclude or ignore fields are not in this map. */
  readonly known: Map<DescMessage, ReadInto>;
}

function compilationOf(rules: ReadRules): Compilation {
  const { profile = strictProfile, registry, excluded = [], ignored = [] } = rules;
  const common = { ...rules, profile, known: new Map<DescMessage, ReadInto>(), excluded: [], ignored: [] };
  const readAny: ReadValue =
    registry === undefined
      ? (_, at, violations) => addViolation(violations, "INVALID_VALUE", at, "no type is known for this value")
      : anyReader({ registry, profile, readerOf: (schema) => messageReader(schema, { ...common, readAny }) });
  return { ...common, readAny, excluded, ignored };
}

function messageReader(schema: DescMessage, compilation: Compilation): ReadInto {
  const { excluded, ignored, known, profile } = compilation;
  const isWhole = excluded.length === 0 && ignored.length === 0;
  const found = isWhole ? known.get(schema) : undefined;
  if (found !== undefined) return found;
  const compiled = lazily(() => readersOf(schema, compilation));
  const read: ReadInto = (tree, into, at, violations) => {
    if (!isJsonObject(tree)) {
      addViolation(violations, "INVALID_TYPE", at, "the value must be an object");
      return;
    }
    const { members, required } = compiled();
    readMembers(members, profile, tree, into, at, violations);
    for (const { step, field } of required) {
      if (!tree.has(field.jsonName))
        addViolation(violations, "REQUIRED", { parent: at, step }, "the value is required");
    }
  };
  if (isWhole) known.set(schema, read);
  return read;
}

function readersOf(schema: DescMessage, compilation: Compilation) {
  const { excluded, profile, partial = false } = compilation;
  const readers = schema.fields
    .filter((field) => !endsAt(excluded, field))
    .map((field) => memberReader(field, compilation));
  const isChecked = profile.requiresCollections && !partial;
  return {
    members: membersOf(readers, profile),
    required: isChecked ? readers.filter(({ field }) => mustBeSent(field)) : [],
  };
}

function memberReader(field: DescField, compilation: Compilation): FieldReader {
  const { excluded, ignored, profile } = compilation;
  const step = fieldStep(field);
  if (endsAt(ignored, field)) return { field, step, read: () => {} };
  const inner = { ...compilation, excluded: within(excluded, field), ignored: within(ignored, field) };
  return { field, step, read: profile.fieldReader(field, oneofReader(field, readerInto(field, inner))) };
}

function endsAt(paths: readonly FieldNames[], field: DescField): boolean {
  return paths.some((path) => path.length === 1 && path[0] === field);
}

function within(paths: readonly FieldNames[], field: DescField): FieldNames[] {
  return paths.filter(([first]) => first === field).map((path) => path.slice(1));
}

function mustBeSent(field: DescField): boolean {
  const isCollection = field.fieldKind === "list" || field.fieldKind === "map";
  return isCollection && getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED);
}

function readerInto(field: DescField, compilation: Compilation): ReadInto {
  const { profile, readAny, maxItems } = compilation;
  if (field.fieldKind === "list") return listReader(field, itemReader(field, compilation), maxItems?.(field));
  if (field.fieldKind === "map") {
    return mapReader(field, mapKeyReader(field.mapKey, profile), itemReader(field, compilation));
  }
  const leaf = isAny(field) ? readAny : leafReader(field, profile);
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
  const leaf = isAny(field) ? compilation.readAny : leafReader(field, compilation.profile);
  const schema = field.message;
  if (leaf !== undefined || schema === undefined) return leaf ?? (() => undefined);
  const read = messageReader(schema, { ...compilation, excluded: [], ignored: [] });
  return (tree, at, violations) => {
    const item = create(schema);
    read(tree, fieldsOf(item), at, violations);
    return item;
  };
}

function isAny({ message }: DescField): boolean {
  return message?.typeName === AnySchema.typeName;
}
