import { ScalarType } from "@bufbuild/protobuf";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { type FieldPath } from "../violations/field-path.js";
import { readString, scalarReader } from "./read-scalar.js";

/** Reads a member name that is data. Returns undefined for an invalid name and adds a violation. */
export type ReadName = (name: string, at: FieldPath, violations: Violations) => string | undefined;

const decimal = /^(?:0|-?[1-9][0-9]*)$/;

/** Returns the reader of a map's keys: strings, `true` and `false`, or integers in plain decimal form. */
export function mapKeyReader(type: ScalarType): ReadName {
  if (type === ScalarType.STRING) return readName;
  if (type === ScalarType.BOOL) return readBoolKey;
  const readInteger = scalarReader(type);
  return (name, at, violations) => {
    if (!decimal.test(name)) return addViolation(violations, "INVALID_TYPE", at, "the name must be an integer");
    return readInteger({ number: name }, at, violations) === undefined ? undefined : name;
  };
}

/** Reads a name: any valid string except `__proto__`, which is not an ordinary property of a JavaScript object. */
export function readName(name: string, at: FieldPath, violations: Violations): string | undefined {
  if (name === "__proto__") return addViolation(violations, "INVALID_VALUE", at, "the name __proto__ is not allowed");
  return readString(name, at, violations);
}

function readBoolKey(name: string, at: FieldPath, violations: Violations): string | undefined {
  if (name === "true" || name === "false") return name;
  return addViolation(violations, "INVALID_TYPE", at, "the name must be true or false");
}
