import { ScalarType } from "@bufbuild/protobuf";
import { addFinding, type Findings, type Location } from "../violations/findings.js";
import { readString, scalarReader } from "./read-scalar.js";

/** Reads the name of a member whose names are data; undefined where it cannot be one, which `findings` then tells. */
export type ReadName = (name: string, at: Location, findings: Findings) => string | undefined;

const decimal = /^(?:0|-?[1-9][0-9]*)$/;

/** The reader of a map's keys: text, `true` and `false`, or integers in their one plain decimal form. */
export function mapKeyReader(type: ScalarType): ReadName {
  if (type === ScalarType.STRING) return readName;
  if (type === ScalarType.BOOL) return readBoolKey;
  const readInteger = scalarReader(type);
  return (name, at, findings) => {
    if (!decimal.test(name)) return addFinding(findings, "INVALID_TYPE", at, "the name must be an integer");
    return readInteger({ number: name }, at, findings) === undefined ? undefined : name;
  };
}

/** Any text a string may be, but `__proto__`: it is no ordinary property of a JavaScript object. */
export function readName(name: string, at: Location, findings: Findings): string | undefined {
  if (name === "__proto__") return addFinding(findings, "INVALID_VALUE", at, "this name cannot be used");
  return readString(name, at, findings);
}

function readBoolKey(name: string, at: Location, findings: Findings): string | undefined {
  if (name === "true" || name === "false") return name;
  return addFinding(findings, "INVALID_TYPE", at, "the name must be true or false");
}
