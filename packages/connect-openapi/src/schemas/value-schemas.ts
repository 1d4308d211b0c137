import { type DescField, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { EmptySchema, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { ValueKind } from "../rules/cel-keywords.js";
import type { Direction } from "./schema-options.js";

const int32: JsonObject = { type: "integer", format: "int32" };
const uint32: JsonObject = { type: "integer", minimum: 0, maximum: 4_294_967_295 };
const int64: JsonObject = { type: "string", pattern: "^-?[0-9]+$" };
const uint64: JsonObject = { type: "string", pattern: "^[0-9]+$" };

/** The schemas of scalar types. 64-bit integers are strings, because many tools round large JSON numbers. */
const scalars: Readonly<Record<ScalarType, JsonObject>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

/** The schemas of well-known types with a special JSON form, except wrapper types such as StringValue. */
const wellKnown: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?s$" },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.Value": {},
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Empty": { type: "object" },
  "google.protobuf.Any": {
    type: "object",
    properties: { "@type": { type: "string", description: "The URL of the message's type." } },
  },
};

/**
 * The schemas of map keys, which are always strings in JSON. Signed integers are missing, because {@link keySchema}
 * returns one pattern for all of them.
 */
const keys: Readonly<Partial<Record<ScalarType, JsonObject>>> = {
  [ScalarType.STRING]: {},
  [ScalarType.BOOL]: { enum: ["true", "false"] },
  [ScalarType.UINT32]: { pattern: "^[0-9]+$" },
  [ScalarType.UINT64]: { pattern: "^[0-9]+$" },
  [ScalarType.FIXED32]: { pattern: "^[0-9]+$" },
  [ScalarType.FIXED64]: { pattern: "^[0-9]+$" },
};

export function scalarSchema(scalar: ScalarType): JsonObject {
  return scalars[scalar];
}

/**
 * Returns the schema of a message type with a special JSON form, such as Timestamp; undefined for other messages. In a
 * request, the schema of google.protobuf.Empty forbids unknown members, as the schemas of all messages do.
 */
export function wellKnownSchema(
  message: NonNullable<DescField["message"]>,
  direction: Direction,
): JsonObject | undefined {
  const wrapped = isWrapperDesc(message) ? message.fields[0]?.scalar : undefined;
  if (message.typeName === EmptySchema.typeName && direction === "request")
    return { type: "object", additionalProperties: false };
  return wrapped === undefined ? wellKnown[message.typeName] : scalars[wrapped];
}

/** Returns the schema of the keys of a map. */
export function keySchema(key: ScalarType): JsonObject {
  return keys[key] ?? { pattern: "^-?[0-9]+$" };
}

/** Returns the kind of a field's value; for a list, of its items; for a map, of its values. */
export function valueKind(field: DescField): ValueKind {
  const scalar =
    field.message !== undefined && isWrapperDesc(field.message) ? field.message.fields[0]?.scalar : field.scalar;
  if (scalar === undefined) return "other";
  return scalarKind(scalar);
}

export function scalarKind(scalar: ScalarType): ValueKind {
  if (scalar === ScalarType.STRING) return "string";
  const { type } = scalars[scalar];
  return type === "integer" || type === "number" ? "number" : "other";
}
