import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "yaml";

/** Formats a document as indented JSON. */
export function jsonText(document: JsonObject): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Formats a document as YAML without folding long lines. Uses no aliases, because many tools do not support them. */
export function yamlText(document: JsonObject): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}
