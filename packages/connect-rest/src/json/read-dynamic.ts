import { type DescMessage, fromJson, type JsonValue, type JsonObject as PlainObject } from "@bufbuild/protobuf";
import { ListValueSchema, StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { type FieldPath, indexStep, keyStep } from "../violations/field-path.js";
import type { ReadValue } from "./json-profile.js";
import { isJsonObject, type JsonObject, type JsonTree } from "./read-json.js";
import { nameReader } from "./read-map-key.js";

/**
 * Returns a function that returns the reader of google.protobuf.Struct, Value or ListValue, and undefined for other
 * types. `readString` reads the strings and the member names in the JSON, and `readDouble` the numbers.
 */
export function dynamicReaders(
  readString: ReadValue,
  readDouble: ReadValue,
): (schema: DescMessage) => ReadValue | undefined {
  const readPlain = plainReader(readString, readDouble);
  const readStruct: ReadValue = (tree, at, violations) => {
    if (isJsonObject(tree)) return readPlain(tree, at, violations);
    return addViolation(violations, "INVALID_TYPE", at, "the value must be an object");
  };
  const readValue: ReadValue = (tree, at, violations) => {
    const json = readPlain(tree, at, violations);
    return json === undefined ? undefined : fromJson(ValueSchema, json);
  };
  const readListValue: ReadValue = (tree, at, violations) => {
    if (!Array.isArray(tree)) return addViolation(violations, "INVALID_TYPE", at, "the value must be an array");
    const json = readPlain(tree, at, violations);
    return json === undefined ? undefined : fromJson(ListValueSchema, json);
  };
  const readers = new Map<string, ReadValue>([
    [StructSchema.typeName, readStruct],
    [ValueSchema.typeName, readValue],
    [ListValueSchema.typeName, readListValue],
  ]);
  return ({ typeName }) => readers.get(typeName);
}

type ReadPlain = (tree: JsonTree, at: FieldPath | undefined, violations: Violations) => JsonValue | undefined;

function plainReader(readString: ReadValue, readDouble: ReadValue): ReadPlain {
  const readName = nameReader(readString);
  const readPlain: ReadPlain = (tree, at, violations) => {
    if (tree === null || typeof tree === "boolean") return tree;
    if (typeof tree === "string") return readString(tree, at, violations) as string | undefined;
    if (isJsonObject(tree)) return readObject(tree, at, violations);
    if (Array.isArray(tree)) return readArray(tree, at, violations);
    return readDouble(tree, at, violations) as number | undefined;
  };
  const readArray = (items: readonly JsonTree[], parent: FieldPath | undefined, violations: Violations) => {
    const values = items.map((item, index) => readPlain(item, { parent, step: indexStep(index) }, violations));
    return values.filter((value) => value !== undefined);
  };
  const readObject = (members: JsonObject, parent: FieldPath | undefined, violations: Violations) => {
    const object: PlainObject = {};
    let order = 0;
    for (const [name, member] of members) {
      const at = { parent, step: keyStep(name, order++) };
      const key = readName(name, at, violations);
      const value = readPlain(member, at, violations);
      if (key !== undefined && value !== undefined) object[key] = value;
    }
    return object;
  };
  return readPlain;
}
