import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior as fieldBehavior } from "../../src/gen/google/api/field_behavior_pb.js";

/** Returns a number from 0 to `below`, exclusive. The same seed gives the same sequence. */
export type Random = (below: number) => number;

const MOST_DEPTH = 3;
const texts = [
  "a",
  "b c",
  "100%",
  "x/y",
  "?&=#+",
  "ñandú",
  "日本",
  "😀",
  "%2F",
  "..",
  "a:b",
  "{id}",
  '"q"',
  "$,;@!'()*",
];
const integers = [0, 1, -1, 2147483647, -2147483648];
const naturals = [0, 1, 4294967295];
const longs = ["0", "1", "-1", "9223372036854775807", "-9223372036854775808"];
const positives = ["0", "1", "18446744073709551615"];
const reals = [0, 1, -1.5, 0.25, 1024];

const scalars: Readonly<Record<ScalarType, readonly JsonValue[]>> = {
  [ScalarType.DOUBLE]: [...reals, 1e300, "Infinity", "-Infinity"],
  [ScalarType.FLOAT]: [...reals, "Infinity"],
  [ScalarType.INT32]: integers,
  [ScalarType.SINT32]: integers,
  [ScalarType.SFIXED32]: integers,
  [ScalarType.UINT32]: naturals,
  [ScalarType.FIXED32]: naturals,
  [ScalarType.INT64]: longs,
  [ScalarType.SINT64]: longs,
  [ScalarType.SFIXED64]: longs,
  [ScalarType.UINT64]: positives,
  [ScalarType.FIXED64]: positives,
  [ScalarType.BOOL]: [true, false],
  [ScalarType.STRING]: texts,
  [ScalarType.BYTES]: ["", "AQI=", "+/8=", "AAAA"],
};

const wellKnown: Readonly<Record<string, readonly JsonValue[]>> = {
  "google.protobuf.Timestamp": ["1970-01-01T00:00:00Z", "2026-02-28T23:59:59.123456789Z", "9999-12-31T23:59:59Z"],
  "google.protobuf.Duration": ["0s", "-0.5s", "3600s", "315576000000.999999999s"],
  "google.protobuf.FieldMask": ["", "*", "name,labels", "a.fooBar"],
  "google.protobuf.Empty": [{}],
  "google.protobuf.Any": [
    {},
    { "@type": "type.googleapis.com/google.protobuf.Duration", value: "1.5s" },
    { value: { a: [null] }, "@type": "type.googleapis.com/google.protobuf.Struct" },
  ],
  "google.protobuf.Struct": [{}, { a: [1, null, { b: "c" }] }],
  "google.protobuf.Value": ["x", 1, true, [], {}],
  "google.protobuf.ListValue": [[], [1, "x"]],
  "google.protobuf.DoubleValue": scalars[ScalarType.DOUBLE],
  "google.protobuf.FloatValue": scalars[ScalarType.FLOAT],
  "google.protobuf.Int64Value": longs,
  "google.protobuf.UInt64Value": positives,
  "google.protobuf.Int32Value": integers,
  "google.protobuf.UInt32Value": naturals,
  "google.protobuf.BoolValue": [true, false],
  "google.protobuf.StringValue": texts,
  "google.protobuf.BytesValue": scalars[ScalarType.BYTES],
};

/** Returns a generator whose numbers depend only on its seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Returns a random item. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

/**
 * Returns a random message as a client would write it: half of its fields, fewer at each level, and at most one member
 * of each oneof. Required lists and maps are always present.
 */
export function randomMessage(schema: DescMessage, random: Random, depth = 0): JsonObject {
  const oneofs = new Set<string>();
  const json: JsonObject = {};
  for (const field of schema.fields) {
    const required = isRequired(field);
    if (!required && (random(2 << depth) !== 0 || (depth >= MOST_DEPTH && field.message !== undefined))) continue;
    if (field.oneof !== undefined && oneofs.has(field.oneof.name)) continue;
    if (field.oneof !== undefined) oneofs.add(field.oneof.name);
    json[field.jsonName] = randomValue(field, random, depth);
  }
  return json;
}

/** Returns a random value for a field. */
export function randomValue(field: DescField, random: Random, depth = 0): JsonValue {
  const item = () => randomItem(field, random, depth);
  const isDeep = depth >= MOST_DEPTH && field.message !== undefined;
  if (field.fieldKind === "list") return isDeep ? [] : Array.from({ length: 1 + random(2) }, item);
  if (field.fieldKind !== "map") return item();
  return isDeep ? {} : { [textOf(pick(random, scalars[field.mapKey]))]: item() };
}

function isRequired(field: DescField): boolean {
  const isCollection = field.fieldKind === "list" || field.fieldKind === "map";
  return isCollection && getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED);
}

/** Returns a value as it is written in a path or query: as in JSON, but without the quotes of a string. */
export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a random value of a single scalar or enumeration. */
export function randomLeaf(field: DescField, random: Random): JsonValue {
  if (field.enum !== undefined) {
    return field.enum.typeName === "google.protobuf.NullValue" ? null : pick(random, field.enum.values).name;
  }
  return pick(random, scalars[field.scalar ?? ScalarType.STRING]);
}

function randomItem(field: DescField, random: Random, depth: number): JsonValue {
  if (field.message === undefined) return randomLeaf(field, random);
  const known = wellKnown[field.message.typeName];
  return known === undefined ? randomMessage(field.message, random, depth + 1) : pick(random, known);
}
