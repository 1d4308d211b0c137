import { create, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../../violations/collect-violations.js";
import type { FieldPath } from "../../violations/field-path.js";
import type { ReadValue } from "../json-profile.js";
import { dynamicReaders } from "../read-dynamic.js";
import type { JsonTree } from "../read-json.js";
import { scalarReader as strictScalarReader } from "../strict/read-scalar.js";
import { readDuration, readTimestamp } from "../strict/read-time.js";
import { snakeCase } from "../strict/read-well-known.js";
import { readString } from "./read-scalar.js";

const lowerCaseLetter = /[tz]/;
const maskPath = /^(?:[a-z][A-Za-z0-9_]*|\*)(?:\.(?:[a-z][A-Za-z0-9_]*|\*))*$/;
const dynamicReader = dynamicReaders(readString, strictScalarReader(ScalarType.DOUBLE));

/** Returns the reader of a message type with a special JSON form, see {@link JsonProfile.wellKnownReader}. */
export function wellKnownReader(schema: DescMessage): ReadValue | undefined {
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return readUpperCaseTimestamp;
    case "google.protobuf.Duration":
      return readDuration;
    case "google.protobuf.FieldMask":
      return readFieldMask;
    default:
      return dynamicReader(schema);
  }
}

/** Reads a Timestamp. Unlike RFC 3339, ProtoJSON requires `T` and `Z` in upper case. */
function readUpperCaseTimestamp(tree: JsonTree, at: FieldPath | undefined, violations: Violations): unknown {
  if (typeof tree !== "string" || !lowerCaseLetter.test(tree)) return readTimestamp(tree, at, violations);
  return addViolation(violations, "INVALID_DATE_TIME", at, "the T and the Z of a date-time must be in upper case");
}

/**
 * Reads a FieldMask: field names in lowerCamelCase, as ProtoJSON writes them, or in snake_case, as in protos. `*`
 * selects every field (AIP-134).
 */
function readFieldMask(tree: JsonTree, at: FieldPath | undefined, violations: Violations): FieldMask | undefined {
  if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
  const paths = tree === "" ? [] : tree.split(",");
  if (paths.every((path) => maskPath.test(path))) return create(FieldMaskSchema, { paths: paths.map(snakeCase) });
  return addViolation(violations, "INVALID_FORMAT", at, "the value must be field names, separated by commas");
}
