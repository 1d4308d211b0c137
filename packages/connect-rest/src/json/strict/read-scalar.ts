import { ScalarType } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { addViolation, type Violations } from "../../violations/collect-violations.js";
import { type FieldPath } from "../../violations/field-path.js";
import type { ReadValue } from "../json-profile.js";
import { integerOf } from "../read-integer.js";
import type { JsonTree } from "../read-json.js";

const int32 = { min: -2147483648, max: 2147483647 };
const uint32 = { min: 0, max: 4294967295 };
const int64 = { min: -9223372036854775808n, max: 9223372036854775807n };
const uint64 = { min: 0n, max: 18446744073709551615n };

const readers: Readonly<Record<ScalarType, ReadValue>> = {
  [ScalarType.DOUBLE]: (tree, at, violations) => readFloat(tree, at, violations, Number),
  [ScalarType.FLOAT]: (tree, at, violations) => readFloat(tree, at, violations, (text) => Math.fround(Number(text))),
  [ScalarType.INT32]: integerReader(int32),
  [ScalarType.SINT32]: integerReader(int32),
  [ScalarType.SFIXED32]: integerReader(int32),
  [ScalarType.UINT32]: integerReader(uint32),
  [ScalarType.FIXED32]: integerReader(uint32),
  [ScalarType.INT64]: longReader(int64),
  [ScalarType.SINT64]: longReader(int64),
  [ScalarType.SFIXED64]: longReader(int64),
  [ScalarType.UINT64]: longReader(uint64),
  [ScalarType.FIXED64]: longReader(uint64),
  [ScalarType.BOOL]: readBool,
  [ScalarType.STRING]: readString,
  [ScalarType.BYTES]: readBytes,
};

const unstorable = /[\0\p{Cs}]/u;
const decimal = /^(?:0|-?[1-9][0-9]*)$/;

/**
 * Returns the reader of a scalar type. It accepts less than ProtoJSON:
 * - No type is converted to another. For example, `"5"` is not an int32.
 * - A number may be a string only where ProtoJSON itself writes a string: 64-bit integers as plain decimals, and NaN,
 *   Infinity and -Infinity for floating point.
 * - Base64 must have the standard alphabet and padding.
 * - A string must not contain U+0000 or half of a surrogate pair.
 *
 * Integers are exact and may be written `5.0`. With `longAsString`, the reader returns 64-bit integers as text.
 */
export function scalarReader(scalar: ScalarType, longAsString = false): ReadValue {
  const read = readers[scalar];
  if (!longAsString) return read;
  return (tree, at, violations) => read(tree, at, violations)?.toString();
}

/** Reads a string. U+0000 and lone surrogates are violations, because databases cannot store them as text. */
export function readString(tree: JsonTree, at: FieldPath | undefined, violations: Violations): string | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  if (unstorable.test(tree)) {
    return addViolation(
      violations,
      "INVALID_VALUE",
      at,
      "the value must not contain U+0000 or half of a surrogate pair",
    );
  }
  return tree;
}

/** Returns the text of a JSON number, or undefined for every other value. */
export function numberText(tree: JsonTree): string | undefined {
  return typeof tree === "object" && tree !== null && "number" in tree ? tree.number : undefined;
}

function readBool(tree: JsonTree, at: FieldPath | undefined, violations: Violations): boolean | undefined {
  if (typeof tree === "boolean") return tree;
  return addViolation(violations, "INVALID_TYPE", at, "the value must be true or false");
}

function readBytes(tree: JsonTree, at: FieldPath | undefined, violations: Violations): Uint8Array | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const bytes = decodeBase64(tree);
  if (bytes !== undefined && base64Encode(bytes) === tree) return bytes;
  return addViolation(violations, "INVALID_FORMAT", at, "the value must be base64 with padding");
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return base64Decode(text);
  } catch {
    return undefined;
  }
}

function integerReader({ min, max }: typeof int32): ReadValue {
  return (tree, at, violations) => {
    const value = integerOf(numberText(tree) ?? "0.5");
    if (value === "fraction") return addViolation(violations, "INVALID_TYPE", at, "the value must be an integer");
    if (value !== "large" && value >= min && value <= max) return Number(value);
    return addViolation(violations, "OUT_OF_RANGE", at, `the value must be from ${min} to ${max}`);
  };
}

function longReader({ min, max }: typeof int64): ReadValue {
  return (tree, at, violations) => {
    const text = typeof tree === "string" && decimal.test(tree) ? tree : numberText(tree);
    const value = integerOf(text ?? "0.5");
    if (value === "fraction") return addViolation(violations, "INVALID_TYPE", at, "the value must be an integer");
    if (value !== "large" && value >= min && value <= max) return BigInt(value);
    return addViolation(violations, "OUT_OF_RANGE", at, `the value must be from ${min} to ${max}`);
  };
}

function readFloat(
  tree: JsonTree,
  at: FieldPath | undefined,
  violations: Violations,
  parse: (text: string) => number,
): number | undefined {
  if (tree === "NaN" || tree === "Infinity" || tree === "-Infinity") return Number(tree);
  const text = numberText(tree);
  if (text === undefined) return addViolation(violations, "INVALID_TYPE", at, "the value must be a number");
  const value = parse(text);
  return Number.isFinite(value) ? value : addViolation(violations, "OUT_OF_RANGE", at, "the value is too large");
}
