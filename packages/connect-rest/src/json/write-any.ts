import { type DescMessage, fromBinary, type Message, type Registry } from "@bufbuild/protobuf";
import { type Any, hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import { typeOf } from "./read-any.js";

/**
 * Creates the writer of google.protobuf.Any. It writes an object with `@type` and the members of the content. If the
 * type of the content has a special JSON form, this JSON is in the member `value` instead. An Any without a type is an
 * empty object. The writer throws for a type that is not in the registry.
 */
export function anyWriter(
  registry: Registry,
  writerOf: (schema: DescMessage) => (content: Message) => string,
): (any: Any) => string {
  return ({ typeUrl, value }) => {
    if (typeUrl === "") return "{}";
    const schema = typeOf(registry, typeUrl);
    if (schema === undefined)
      throw new Error(`the registry has no type for the URL ${typeUrl} of a google.protobuf.Any`);
    const content = writerOf(schema)(fromBinary(schema, value));
    const type = `{"@type":${JSON.stringify(typeUrl)}`;
    if (hasCustomJsonRepresentation(schema)) return `${type},"value":${content}}`;
    return content === "{}" ? `${type}}` : `${type},${content.slice(1)}`;
  };
}
