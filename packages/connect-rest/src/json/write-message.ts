import { type DescField, type DescMessage, type Message, type Registry, ScalarType, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema, isWrapperDesc, type Timestamp } from "@bufbuild/protobuf/wkt";
import { lazily } from "../lazily.js";
import type { JsonProfile } from "./json-profile.js";
import { type Fields, fieldsOf, heldValue } from "./message-fields.js";
import { strictProfile } from "./strict/strict-profile.js";
import { anyWriter } from "./write-any.js";

/** Writes a message as JSON text. */
export type WriteMessage = (message: Message) => string;

type Write = (value: unknown) => string;

/** Writes a field as a member: its name and its value. Returns undefined if the field is not set. */
type WriteMember = (fields: Fields) => string | undefined;

/** Rules for writing, in addition to the schema. */
export interface WriteRules {
  /** The profile that decides the number of decimals in Timestamps. Defaults to the strict profile. */
  readonly profile?: JsonProfile;
  /** The types that google.protobuf.Any may contain. Defaults to none: only an empty Any can be written. */
  readonly registry?: Registry | undefined;
}

interface Compilation {
  readonly profile: JsonProfile;
  readonly registry: Registry | undefined;
  /** The writers of the message types that were needed so far. */
  readonly known: Map<DescMessage, Write>;
}

const longTypes: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

/**
 * Returns a function that writes a message as ProtoJSON. The function throws for values that ProtoJSON cannot
 * represent. It always writes fields of implicit presence, so `false`, "" and [] are explicit. The profile decides the
 * number of decimals in Timestamps. The function compiles the writer of each message type at its first use.
 */
export function createMessageWriter(schema: DescMessage, rules: WriteRules = {}): WriteMessage {
  return messageWriter(schema, compilationOf(rules));
}

/** Returns a function that writes the value of one field of a message, or `null` if the field is not set. */
export function createFieldWriter(field: DescField, rules: WriteRules = {}): WriteMessage {
  const write = fieldWriter(field, compilationOf(rules));
  return (message) => {
    const value = heldValue(fieldsOf(message), field);
    return value === undefined ? "null" : write(value);
  };
}

function compilationOf({ profile = strictProfile, registry }: WriteRules): Compilation {
  return { profile, registry, known: new Map() };
}

function messageWriter(schema: DescMessage, compilation: Compilation): Write {
  const known = compilation.known.get(schema) ?? wellKnownWriter(schema, compilation);
  if (known !== undefined) return known;
  const members = lazily((): readonly WriteMember[] =>
    schema.fields.toSorted((one, other) => one.number - other.number).map((field) => memberWriter(field, compilation)),
  );
  const write: Write = (message) => {
    let text = "";
    for (const member of members()) {
      const written = member(message as Fields);
      if (written !== undefined) text += text === "" ? written : `,${written}`;
    }
    return `{${text}}`;
  };
  compilation.known.set(schema, write);
  return write;
}

function memberWriter(field: DescField, compilation: Compilation): WriteMember {
  const name = `${JSON.stringify(field.jsonName)}:`;
  const write = fieldWriter(field, compilation);
  return (fields) => {
    const value = heldValue(fields, field);
    return value === undefined ? undefined : name + write(value);
  };
}

function fieldWriter(field: DescField, compilation: Compilation): Write {
  const write = itemWriter(field, compilation);
  if (field.fieldKind === "list") return (items) => `[${(items as readonly unknown[]).map(write).join(",")}]`;
  if (field.fieldKind !== "map") return write;
  return (entries) => {
    const members = Object.entries(entries as Fields).map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`);
    return `{${members.join(",")}}`;
  };
}

function itemWriter(field: DescField, compilation: Compilation): Write {
  if (field.scalar !== undefined) return scalarWriter(field.scalar);
  if (field.enum !== undefined) return enumWriter(field.enum);
  if (field.message === undefined) throw new Error("a field has no type");
  const isUnwrapped = field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
  if (isUnwrapped) return scalarWriter(field.message.fields[0]?.scalar ?? ScalarType.STRING);
  if (field.message.typeName === "google.protobuf.Struct") return JSON.stringify;
  return messageWriter(field.message, compilation);
}

/**
 * Returns the writer of a type of the package google.protobuf, except Empty; undefined for other types. This package
 * writes Timestamp, and Any if there is a `registry`. `toJson` of protobuf-es writes all others.
 */
function wellKnownWriter(schema: DescMessage, compilation: Compilation): Write | undefined {
  const { profile, registry } = compilation;
  if (schema.typeName === "google.protobuf.Timestamp") return (value) => profile.writeTimestamp(value as Timestamp);
  if (schema.typeName === AnySchema.typeName && registry !== undefined) {
    const write = anyWriter(registry, (content) => messageWriter(content, compilation));
    return (value) => write(value as Any);
  }
  if (!schema.typeName.startsWith("google.protobuf.") || schema.typeName === "google.protobuf.Empty") return undefined;
  const options = { alwaysEmitImplicit: true, ...(registry === undefined ? {} : { registry }) };
  return (message) => JSON.stringify(toJson(schema, message as Message, options));
}

/** Of several names for a value (`allow_alias`), the first one in the schema is written. */
function enumWriter({ typeName, values }: NonNullable<DescField["enum"]>): Write {
  if (typeName === "google.protobuf.NullValue") return () => "null";
  const names = new Map<unknown, string>();
  for (const { number, name } of values.toReversed()) names.set(number, JSON.stringify(name));
  return (value) => names.get(value) ?? String(value);
}

function scalarWriter(scalar: ScalarType): Write {
  if (scalar === ScalarType.STRING) return JSON.stringify;
  if (scalar === ScalarType.BYTES) return (value) => `"${base64Encode(value as Uint8Array)}"`;
  if (longTypes.has(scalar)) return (value) => `"${String(value)}"`;
  if (scalar !== ScalarType.FLOAT && scalar !== ScalarType.DOUBLE) return String;
  return (value) => (Number.isFinite(value) ? JSON.stringify(value) : `"${String(value)}"`);
}
