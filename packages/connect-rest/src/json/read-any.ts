import {
  create,
  type DescMessage,
  fromJson,
  type Message,
  type JsonObject as PlainObject,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { AnySchema, hasCustomJsonRepresentation, isWrapperDesc, StructSchema } from "@bufbuild/protobuf/wkt";
import { addViolation } from "../violations/collect-violations.js";
import { memberStep } from "../violations/field-path.js";
import type { JsonProfile, ReadInto, ReadValue } from "./json-profile.js";
import { fieldsOf } from "./message-fields.js";
import { isJsonObject, type JsonObject } from "./read-json.js";
import { wrapperReader } from "./read-leaf.js";

/** The types that a google.protobuf.Any may contain, and the functions that read them. */
export interface AnyTypes {
  readonly registry: Registry;
  readonly profile: JsonProfile;
  /** Returns a function that reads messages of a type that has no special JSON form. */
  readerOf(schema: DescMessage): ReadInto;
}

const typeMember = memberStep("@type", 0);
const valueMember = memberStep("value", 1);

/**
 * Creates the reader of google.protobuf.Any. The JSON is an object. Its member `@type` is the URL of a type in the
 * registry, and its other members are those of this type. If the type has a special JSON form, its JSON is in the
 * member `value` instead. An empty object is an Any without a type. The reader of a type is compiled at its first use.
 */
export function anyReader(types: AnyTypes): ReadValue {
  const compiled = new Map<DescMessage, ReadValue>();
  const readerOf = (schema: DescMessage): ReadValue => {
    const read = compiled.get(schema) ?? contentReader(schema, types, readAny);
    compiled.set(schema, read);
    return read;
  };
  const readAny: ReadValue = (tree, at, violations) => {
    if (!isJsonObject(tree)) return addViolation(violations, "INVALID_TYPE", at, "the value must be an object");
    if (tree.size === 0) return create(AnySchema);
    const typeUrl = tree.get("@type");
    const atType = { parent: at, step: typeMember };
    if (typeUrl === undefined) return addViolation(violations, "REQUIRED", atType, "the value is required");
    const schema = typeof typeUrl === "string" ? typeOf(types.registry, typeUrl) : undefined;
    if (typeof typeUrl !== "string" || schema === undefined) {
      const message = "the value must be the URL of a known type, such as type.googleapis.com/google.protobuf.Duration";
      return addViolation(violations, "INVALID_VALUE", atType, message);
    }
    const before = violations.items.length;
    const content = readerOf(schema)(withoutType(tree), at, violations) as Message | undefined;
    if (content === undefined || violations.items.length > before) return undefined;
    return create(AnySchema, { typeUrl, value: toBinary(schema, content) });
  };
  return readAny;
}

/**
 * Returns the message type of a type URL. The part after the last slash is the full name of the type. Returns undefined
 * if there is no slash or the registry does not have the type.
 */
export function typeOf(registry: Registry, typeUrl: string): DescMessage | undefined {
  const slash = typeUrl.lastIndexOf("/");
  return slash < 0 ? undefined : registry.getMessage(typeUrl.slice(slash + 1));
}

function withoutType(members: JsonObject): JsonObject {
  return new Map([...members].filter(([name]) => name !== "@type"));
}

function contentReader(schema: DescMessage, { profile, readerOf }: AnyTypes, readAny: ReadValue): ReadValue {
  if (hasCustomJsonRepresentation(schema)) return valueReader(customReader(schema, profile, readAny), profile);
  const read = readerOf(schema);
  return (tree, at, violations) => {
    const content = create(schema);
    read(tree, fieldsOf(content), at, violations);
    return content;
  };
}

function valueReader(read: ReadValue, { unknownName }: JsonProfile): ReadValue {
  return (tree, parent, violations) => {
    if (!isJsonObject(tree)) return undefined;
    for (const name of tree.keys()) if (name !== "value") unknownName(violations, parent, name);
    const value = tree.get("value");
    const at = { parent, step: valueMember };
    if (value === undefined) return addViolation(violations, "REQUIRED", at, "the value is required");
    return read(value, at, violations);
  };
}

function customReader(schema: DescMessage, profile: JsonProfile, readAny: ReadValue): ReadValue {
  if (schema.typeName === AnySchema.typeName) return readAny;
  if (isWrapperDesc(schema)) return wrapperReader(schema, profile);
  const read = profile.wellKnownReader(schema) ?? (() => undefined);
  if (schema.typeName !== StructSchema.typeName) return read;
  return (tree, at, violations) => {
    const json = read(tree, at, violations) as PlainObject | undefined;
    return json === undefined ? undefined : fromJson(StructSchema, json);
  };
}
