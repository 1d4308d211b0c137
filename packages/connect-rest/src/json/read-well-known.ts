import {
  create,
  type DescMessage,
  fromJson,
  type JsonValue,
  type JsonObject as PlainObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema, ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { type FieldPath, indexStep, keyStep } from "../violations/field-path.js";
import { isJsonObject, type JsonObject, type JsonTree } from "./read-json.js";
import { readName } from "./read-map-key.js";
import { type ReadValue, readString, scalarReader } from "./read-scalar.js";
import { readDuration, readTimestamp } from "./read-time.js";

const readDouble = scalarReader(ScalarType.DOUBLE);
const maskPath = /^(?:[a-z][A-Za-z0-9]*|\*)(?:\.(?:[a-z][A-Za-z0-9]*|\*))*$/;

/**
 * Returns the reader of a message type that has a JSON form of its own. The reader returns the value that protobuf-es
 * stores in a field of this type. Returns undefined for every other type, including wrappers, which are read as
 * scalars.
 */
export function wellKnownReader(schema: DescMessage): ReadValue | undefined {
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return readTimestamp;
    case "google.protobuf.Duration":
      return readDuration;
    case "google.protobuf.FieldMask":
      return readFieldMask;
    case "google.protobuf.Struct":
      return readStruct;
    case "google.protobuf.Value":
      return readDynamicValue;
    case "google.protobuf.ListValue":
      return readListValue;
    default:
      return undefined;
  }
}

/** Reads field names in lowerCamelCase. `*` selects every field (AIP-134), also within a path (AIP-161). */
function readFieldMask(tree: JsonTree, at: FieldPath | undefined, violations: Violations): FieldMask | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const paths = tree === "" ? [] : tree.split(",");
  if (!paths.every((path) => maskPath.test(path))) {
    return addViolation(
      violations,
      "INVALID_FORMAT",
      at,
      "the value must be field names in lowerCamelCase, separated by commas",
    );
  }
  return create(FieldMaskSchema, { paths: paths.map(snakeCase) });
}

function snakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function readStruct(tree: JsonTree, at: FieldPath | undefined, violations: Violations): JsonValue | undefined {
  if (isJsonObject(tree)) return readPlain(tree, at, violations);
  return addViolation(violations, "INVALID_TYPE", at, "the value must be an object");
}

function readDynamicValue(tree: JsonTree, at: FieldPath | undefined, violations: Violations): unknown {
  const json = readPlain(tree, at, violations);
  return json === undefined ? undefined : fromJson(ValueSchema, json);
}

function readListValue(tree: JsonTree, at: FieldPath | undefined, violations: Violations): unknown {
  if (!Array.isArray(tree)) return addViolation(violations, "INVALID_TYPE", at, "the value must be an array");
  const json = readPlain(tree, at, violations);
  return json === undefined ? undefined : fromJson(ListValueSchema, json);
}

/** Reads any JSON as plain values. Strings and numbers must be valid as values of fields. */
function readPlain(tree: JsonTree, at: FieldPath | undefined, violations: Violations): JsonValue | undefined {
  if (tree === null || typeof tree === "boolean") return tree;
  if (typeof tree === "string") return readString(tree, at, violations);
  if (isJsonObject(tree)) return readPlainObject(tree, at, violations);
  if (Array.isArray(tree)) return readPlainArray(tree, at, violations);
  return readDouble(tree, at, violations) as number | undefined;
}

function readPlainArray(items: readonly JsonTree[], parent: FieldPath | undefined, violations: Violations) {
  const values = items.map((item, index) => readPlain(item, { parent, step: indexStep(index) }, violations));
  return values.filter((value) => value !== undefined);
}

function readPlainObject(members: JsonObject, parent: FieldPath | undefined, violations: Violations) {
  const object: PlainObject = {};
  let order = 0;
  for (const [name, member] of members) {
    const at = { parent, step: keyStep(name, order++) };
    const key = readName(name, at, violations);
    const value = readPlain(member, at, violations);
    if (key !== undefined && value !== undefined) object[key] = value;
  }
  return object;
}
