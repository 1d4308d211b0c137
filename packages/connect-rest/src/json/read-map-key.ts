import { ScalarType } from "@bufbuild/protobuf";
import { addViolation, type Violations } from "../violations/collect-violations.js";
import { type FieldPath } from "../violations/field-path.js";
import type { JsonProfile, ReadName, ReadValue } from "./json-profile.js";

const decimal = /^(?:0|-?[1-9][0-9]*)$/;

/** Returns the reader of a map's keys: strings, `true` and `false`, or integers in plain decimal form. */
export function mapKeyReader(type: ScalarType, profile: JsonProfile): ReadName {
  if (type === ScalarType.STRING) return nameReader(profile.scalarReader(type));
  if (type === ScalarType.BOOL) return readBoolKey;
  const readInteger = profile.scalarReader(type);
  return (name, at, violations) => {
    if (!decimal.test(name)) return addViolation(violations, "INVALID_TYPE", at, "the name must be an integer");
    return readInteger({ number: name }, at, violations) === undefined ? undefined : name;
  };
}

/**
 * Creates the reader of member names that are data, such as map keys. It accepts any string that `readString` accepts,
 * except `__proto__`, because this name sets the prototype of a JavaScript object.
 */
export function nameReader(readString: ReadValue): ReadName {
  return (name, at, violations) => {
    if (name === "__proto__") return addViolation(violations, "INVALID_VALUE", at, "the name __proto__ is not allowed");
    return readString(name, at, violations) === undefined ? undefined : name;
  };
}

function readBoolKey(name: string, at: FieldPath, violations: Violations): string | undefined {
  if (name === "true" || name === "false") return name;
  return addViolation(violations, "INVALID_TYPE", at, "the name must be true or false");
}
