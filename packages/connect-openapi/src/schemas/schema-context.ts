import type { DescEnum, DescEnumValue, DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { sentenceOf, type Unsaid } from "../rules/translation.js";
import type { CommentText } from "./comment-text.js";
import type { Definition, Direction, SchemaOptions } from "./schema-options.js";

/** A path of fields, from a message down. */
export type FieldPath = readonly DescField[];

/** The options and functions that all schemas of a document share. */
export interface SchemaContext {
  readonly options: SchemaOptions;
  /** Returns the comment of a definition as CommonMark, or undefined for none. */
  comment(definition: Definition): string | undefined;
  enumValues(definition: DescEnum): readonly DescEnumValue[];
  /** Returns the final schema, which the caller may change. */
  finished(definition: DescMessage | DescField | DescEnum, schema: JsonObject): JsonObject;
  /** Returns the sentences about rules that keywords do not express. */
  sentences(unsaid: readonly Unsaid[], definition: DescField | DescMessage): string[];
  /** Returns the schema of a message, or a reference to it, without the `excluded` paths. */
  messageSchema(message: DescMessage, direction: Direction, excluded: readonly FieldPath[]): JsonObject;
  /** Returns a reference to the schema of an enumeration. */
  enumReference(definition: DescEnum): JsonObject;
}

/** Returns the parts of a context that need no collected schemas. */
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
