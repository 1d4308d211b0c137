import type { DescField } from "@bufbuild/protobuf";
import type { JsonTree } from "../read-json.js";
import { numberOrText, bareText as strictBareText } from "../strict/bare-text.js";

/** Returns the JSON that stands for the bare text of a parameter: as in the strict profile, and numbers of enums. */
export function bareText(field: DescField): (text: string) => JsonTree {
  return field.enum === undefined ? strictBareText(field) : numberOrText;
}
