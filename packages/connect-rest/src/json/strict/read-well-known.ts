import { create, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { addViolation, type Violations } from "../../violations/collect-violations.js";
import type { FieldPath } from "../../violations/field-path.js";
import type { ReadValue } from "../json-profile.js";
import { dynamicReaders } from "../read-dynamic.js";
import type { JsonTree } from "../read-json.js";
import { readString, scalarReader } from "./read-scalar.js";
import { readDuration, readTimestamp } from "./read-time.js";

const maskPath = /^(?:[a-z][A-Za-z0-9]*|\*)(?:\.(?:[a-z][A-Za-z0-9]*|\*))*$/;
const dynamicReader = dynamicReaders(readString, scalarReader(ScalarType.DOUBLE));

/** Returns the reader of a message type with a special JSON form, see {@link JsonProfile.wellKnownReader}. */
export function wellKnownReader(schema: DescMessage): ReadValue | undefined {
  switch (schema.typeName) {
    case "google.protobuf.Timestamp":
      return readTimestamp;
    case "google.protobuf.Duration":
      return readDuration;
    case "google.protobuf.FieldMask":
      return readFieldMask;
    default:
      return dynamicReader(schema);
  }
}

/**
 * Reads a FieldMask: field names in lowerCamelCase. `*` selects every field (AIP-134), also within a path (AIP-161).
 */
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

/** Converts a path from lowerCamelCase to snake_case. */
export function snakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
