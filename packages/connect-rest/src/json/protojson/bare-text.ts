import type { DescField } from "@bufbuild/protobuf";
import type { JsonTree } from "../read-json.js";
import { numberOrText, bareText as strictBareText } from "../strict/bare-text.js";

/**
 * Returns a function that converts the text of a path or query parameter to JSON, as in the strict profile. In
 * addition, an enum may be a number.
 */
export function bareText(field: DescField): (text: string) => JsonTree {
  return field.enum === undefined ? strictBareText(field) : numberOrText;
}
