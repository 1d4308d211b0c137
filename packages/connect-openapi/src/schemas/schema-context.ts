import type { DescEnum, DescEnumValue, DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { sentenceOf, type Unsaid } from "../rules/translation.js";
import type { CommentText } from "./comment-text.js";
import type { Definition, Direction, SchemaOptions } from "./schema-options.js";

/**
 * A path from a message to a field that it contains, directly or in a nested message. The first item is a field of the
 * message. Each further item is a field of the message that the previous item contains.
 */
export type FieldPath = readonly DescField[];

/** The options and functions that all schemas of a document share. */
export interface SchemaContext {
  readonly options: SchemaOptions;
  /** Returns the comment of a definition as CommonMark, or undefined for none. */
  comment(definition: Definition): string | undefined;
  enumValues(definition: DescEnum): readonly DescEnumValue[];
  /** Returns the result of {@link SchemaOptions.schema} for the schema; the schema itself without this option. */
  finished(definition: DescMessage | DescField | DescEnum, schema: JsonObject): JsonObject;
  /**
   * Returns sentences for the description of `definition`. They state the rules in `unsaid`, which keywords of
   * JSON Schema do not express in full.
   */
  sentences(unsaid: readonly Unsaid[], definition: DescField | DescMessage): string[];
  /**
   * Returns a reference to the schema of a message without the `excluded` paths. For a type with a special JSON form,
   * such as Timestamp, returns the schema itself.
   */
  messageSchema(message: DescMessage, direction: Direction, excluded: readonly FieldPath[]): JsonObject;
  /** Returns a reference to the schema of an enumeration. For google.protobuf.NullValue, returns the schema itself. */
  enumReference(definition: DescEnum): JsonObject;
}

/** Returns those functions of a {@link SchemaContext} that need only the options and `toText`. */
export function describer(
  options: SchemaOptions,
  toText: CommentText,
): Pick<SchemaContext, "comment" | "enumValues" | "finished" | "sentences"> {
  const sentence = options.untranslated ?? sentenceOf;
  return {
    comment: (definition) => {
      const text = toText(options.comment?.(definition) ?? "");
      return text === "" ? undefined : text;
    },
    enumValues: (definition) => options.enumValues?.(definition) ?? definition.values,
    finished: (definition, schema) => options.schema?.(definition, schema) ?? schema,
    sentences: (unsaid, definition) => {
      const all = unsaid.map((rule) => sentence({ ...rule, definition }) ?? "");
      return [...new Set(all)].filter((text) => text !== "");
    },
  };
}
