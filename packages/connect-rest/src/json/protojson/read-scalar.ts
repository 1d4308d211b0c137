import { ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { addViolation, type Violations } from "../../violations/collect-violations.js";
import type { FieldPath } from "../../violations/field-path.js";
import type { ReadValue } from "../json-profile.js";
import type { JsonTree } from "../read-json.js";
import { numberOrText } from "../strict/bare-text.js";
import { scalarReader as strictScalarReader } from "../strict/read-scalar.js";

const loneSurrogate = /\p{Cs}/u;
const base64 = /^[A-Za-z0-9+/_-]*$/;

/**
 * Returns the reader of a scalar type by the ProtoJSON specification. It accepts all values of the strict profile, and:
 * - numbers in quotes, such as `"5"` and `"5e0"`
 * - both base64 alphabets, with or without padding
 * - U+0000 in strings
 */
export function scalarReader(scalar: ScalarType, longAsString = false): ReadValue {
  if (scalar === ScalarType.STRING) return readString;
  if (scalar === ScalarType.BYTES) return readBytes;
  const read = strictScalarReader(scalar, longAsString);
  if (scalar === ScalarType.BOOL) return read;
  return (tree, at, violations) => read(typeof tree === "string" ? numberOrText(tree) : tree, at, violations);
}

/** Reads a string. Lone surrogates are a violation, because UTF-8 cannot encode them. */
export function readString(tree: JsonTree, at: FieldPath | undefined, violations: Violations): string | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  if (!loneSurrogate.test(tree)) return tree;
  return addViolation(violations, "INVALID_VALUE", at, "the value must not contain half of a surrogate pair");
}

function readBytes(tree: JsonTree, at: FieldPath | undefined, violations: Violations): Uint8Array | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const digits = tree.length % 4 === 0 ? tree.replace(/={1,2}$/, "") : tree;
  if (base64.test(digits) && digits.length % 4 !== 1) return base64Decode(digits);
  return addViolation(violations, "INVALID_FORMAT", at, "the value must be base64");
}
