import { ScalarType } from "@bufbuild/protobuf";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { type Place } from "../violations/place.js";
import { readString, scalarReader } from "./read-scalar.js";

/** Reads the name of a member whose names are data; undefined where it cannot be one, which `violations` then tells. */
export type ReadName = (name: string, at: Place, violations: Violations) => string | undefined;

const decimal = /^(?:0|-?[1-9][0-9]*)$/;

/** The reader of a map's keys: text, `true` and `false`, or integers in their one plain decimal form. */
export function mapKeyReader(type: ScalarType): ReadName {
  if (type === ScalarType.STRING) return readName;
  if (type === ScalarType.BOOL) return readBoolKey;
  const readInteger = scalarReader(type);
  return (name, at, violations) => {
    if (!decimal.test(name)) return addViolation(violations, "INVALID_TYPE", at, "the name must be an integer");
    return readInteger({ number: name }, at, violations) === undefined ? undefined : name;
  };
}

/** Any text a string may be, but `__proto__`: it is no ordinary property of a JavaScript object. */
export function readName(name: string, at: Place, violations: Violations): string | undefined {
  if (name === "__proto__") return addViolation(violations, "INVALID_VALUE", at, "this name cannot be used");
  return readString(name, at, violations);
}

function readBoolKey(name: string, at: Place, violations: Violations): string | undefined {
  if (name === "true" || name === "false") return name;
  return addViolation(violations, "INVALID_TYPE", at, "the name must be true or false");
}
