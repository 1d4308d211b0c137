import { type DescField, type DescMessage, type Message, ScalarType, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type Fields, fieldsOf, heldValue } from "./message-fields.js";
import { writeTimestamp } from "./write-time.js";

/** Writes a message as JSON text. */
export type WriteMessage = (message: Message) => string;

type Write = (value: unknown) => string;

/** Writes a field with its name. Returns undefined when the field is not set. */
type WriteMember = (fields: Fields) => string | undefined;

type Compiled = Map<DescMessage, Write>;

const longTypes: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);
const writeOptions = { alwaysEmitImplicit: true } as const;

/**
 * Compiles the writer of a message: ProtoJSON that always includes fields of implicit presence, so `false`, "" and []
 * are explicit. Timestamps have a fixed width, see {@link writeTimestamp}. The writer throws for values that ProtoJSON
 * cannot represent. Compiling walks the descriptors once, not for each answer.
 */
export function createMessageWriter(schema: DescMessage): WriteMessage {
  return messageWriter(schema, new Map());
}

/** Compiles the writer of one field's value. It writes `null` when the field is not set. */
export function createFieldWriter(field: DescField): WriteMessage {
  const write = fieldWriter(field, new Map());
  return (message) => {
    const value = heldValue(fieldsOf(message), field);
    return value === undefined ? "null" : write(value);
  };
}

function messageWriter(schema: DescMessage, compiled: Compiled): Write {
  const known = compiled.get(schema) ?? wellKnownWriter(schema);
  if (known !== undefined) return known;
  const members: WriteMember[] = [];
  const write: Write = (message) => {
    let text = "";
    for (const member of members) {
      const written = member(message as Fields);
      if (written !== undefined) text += text === "" ? written : `,${written}`;
    }
    return `{${text}}`;
  };
  compiled.set(schema, write);
  const inOrder = schema.fields.toSorted((a, b) => a.number - b.number);
  for (const field of inOrder) members.push(memberWriter(field, compiled));
  return write;
}

function memberWriter(field: DescField, compiled: Compiled): WriteMember {
  const name = `${JSON.stringify(field.jsonName)}:`;
  const write = fieldWriter(field, compiled);
  return (fields) => {
    const value = heldValue(fields, field);
    return value === undefined ? undefined : name + write(value);
  };
}

function fieldWriter(field: DescField, compiled: Compiled): Write {
  const write = itemWriter(field, compiled);
  if (field.fieldKind === "list") return (items) => `[${(items as readonly unknown[]).map(write).join(",")}]`;
  if (field.fieldKind !== "map") return write;
  return (entries) => {
    const members = Object.entries(entries as Fields).map(([key, value]) => `${JSON.stringify(key)}:${write(value)}`);
    return `{${members.join(",")}}`;
  };
}

function itemWriter(field: DescField, compiled: Compiled): Write {
  if (field.scalar !== undefined) return scalarWriter(field.scalar);
  if (field.enum !== undefined) return enumWriter(field.enum);
  if (field.message === undefined) throw new Error("a field has no type");
  const isUnwrapped = field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
  if (isUnwrapped) return scalarWriter(field.message.fields[0]?.scalar ?? ScalarType.STRING);
  if (field.message.typeName === "google.protobuf.Struct") return JSON.stringify;
  return messageWriter(field.message, compiled);
}

/**
 * Returns the writer of a type with a JSON form of its own. All except Timestamp use the library, because few answers
 * contain them.
 */
function wellKnownWriter(schema: DescMessage): Write | undefined {
  if (schema.typeName === "google.protobuf.Timestamp") return writeTimestamp;
  if (!schema.typeName.startsWith("google.protobuf.") || schema.typeName === "google.protobuf.Empty") return undefined;
  return (message) => JSON.stringify(toJson(schema, message as Message, writeOptions));
}

function enumWriter({ typeName, values }: NonNullable<DescField["enum"]>): Write {
  if (typeName === "google.protobuf.NullValue") return () => "null";
  const names = new Map<unknown, string>(values.map(({ number, name }) => [number, JSON.stringify(name)]));
  return (value) => names.get(value) ?? String(value);
}

function scalarWriter(scalar: ScalarType): Write {
  if (scalar === ScalarType.STRING) return JSON.stringify;
  if (scalar === ScalarType.BYTES) return (value) => `"${base64Encode(value as Uint8Array)}"`;
  if (longTypes.has(scalar)) return (value) => `"${String(value)}"`;
  if (scalar !== ScalarType.FLOAT && scalar !== ScalarType.DOUBLE) return String;
  return (value) => (Number.isFinite(value) ? JSON.stringify(value) : `"${String(value)}"`);
}
