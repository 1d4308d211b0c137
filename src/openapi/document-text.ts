import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "yaml";

/** Formats a document as indented JSON. */
export function jsonText(document: JsonObject): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Formats a document as YAML, without line breaks in texts and without aliases, which many tools do not support. */
export function yamlText(document: JsonObject): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}
