import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { JsonTree } from "../read-json.js";

/** The text of a JSON number. */
export const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Returns a function that converts the bare text of a parameter to JSON: `true` and `false` for a bool, a number for a
 * numeric type, otherwise a string.
 */
export function bareText(field: DescField): (text: string) => JsonTree {
  const scalar = scalarOf(field);
  if (scalar === ScalarType.BOOL) return (text) => (text === "true" || text === "false" ? text === "true" : text);
  if (scalar === undefined || scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return (text) => text;
  return numberOrText;
}

/** Returns a number if the text is one in JSON, otherwise the text. */
export function numberOrText(text: string): JsonTree {
  return jsonNumber.test(text) ? { number: text } : text;
}

function scalarOf({ message, scalar }: DescField): ScalarType | undefined {
  const wrapped = message !== undefined && isWrapperDesc(message) ? message.fields[0] : undefined;
  return wrapped?.scalar ?? scalar;
}
