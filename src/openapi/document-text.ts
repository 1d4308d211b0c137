import type { JsonObject } from "@bufbuild/protobuf";
import { stringify } from "yaml";

/** A document as JSON that people can read. */
export function jsonText(document: JsonObject): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** A document as YAML: no line is broken, and nothing is an alias, which many tools cannot follow. */
export function yamlText(document: JsonObject): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}
