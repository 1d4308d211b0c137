import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { JsonTree } from "../read-json.js";

/** Matches the text of a JSON number. */
export const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Returns a function that converts the text of a path or query parameter to JSON. For a bool, `true` and `false` become
 * booleans. For a numeric type, the text of a JSON number becomes a number. Any other text becomes a string.
 */
export function bareText(field: DescField): (text: string) => JsonTree {
  const scalar = scalarOf(field);
  if (scalar === ScalarType.BOOL) return (text) => (text === "true" || text === "false" ? text === "true" : text);
  if (scalar === undefined || scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return (text) => text;
  return numberOrText;
}

/** Returns a JSON number if the text is one, otherwise the unchanged text. */
export function numberOrText(text: string): JsonTree {
  return jsonNumber.test(text) ? { number: text } : text;
}

function scalarOf({ message, scalar }: DescField): ScalarType | undefined {
  const wrapped = message !== undefined && isWrapperDesc(message) ? message.fields[0] : undefined;
  return wrapped?.scalar ?? scalar;
}
