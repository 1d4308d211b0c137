import type { DescEnum } from "@bufbuild/protobuf";
import { addViolation } from "../../violations/collect-violations.js";
import type { ReadValue } from "../json-profile.js";

const mostNamesShown = 20;

/**
 * Creates the reader of an enum. It accepts only the names of values, as ProtoJSON prints them, and null for
 * google.protobuf.NullValue.
 */
export function enumReader(schema: DescEnum): ReadValue {
  const numbers = new Map(schema.values.map(({ name, number }) => [name, number]));
  const isNull = schema.typeName === "google.protobuf.NullValue";
  const names = schema.values.map(({ name }) => name).filter((name) => !name.endsWith("UNSPECIFIED"));
  const wanted = names.length <= mostNamesShown ? `one of ${names.join(", ")}` : "a name of the enumeration";
  return (tree, at, violations) => {
    if (isNull && tree === null) return 0;
    if (typeof tree !== "string") return addViolation(violations, "INVALID_TYPE", at, "the value must be a string");
    return numbers.get(tree) ?? addViolation(violations, "INVALID_VALUE", at, `the value must be ${wanted}`);
  };
}
