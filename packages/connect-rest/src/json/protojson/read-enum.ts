import type { DescEnum } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { addViolation } from "../../violations/collect-violations.js";
import type { ReadValue } from "../json-profile.js";
import { enumReader as strictEnumReader } from "../strict/read-enum.js";
import { numberText, scalarReader } from "../strict/read-scalar.js";

const readInt32 = scalarReader(ScalarType.INT32);

/**
 * Creates the reader of an enum. It accepts everything that the strict profile accepts, and the numbers of values. For
 * an open enum (proto3) it also accepts numbers that no value of the enum has.
 */
export function enumReader(schema: DescEnum): ReadValue {
  const readName = strictEnumReader(schema);
  const { open, value: named } = schema;
  return (tree, at, violations) => {
    if (numberText(tree) === undefined) return readName(tree, at, violations);
    const number = readInt32(tree, at, violations) as number | undefined;
    if (number === undefined || open || named[number] !== undefined) return number;
    return addViolation(violations, "INVALID_VALUE", at, "the value must be a number of the enumeration");
  };
}
