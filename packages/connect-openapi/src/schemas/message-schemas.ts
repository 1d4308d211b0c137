import type { DescEnum, DescField, DescFile, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { createCommentText } from "./comment-text.js";
import { enumSchema } from "./enum-schema.js";
import { fieldSchema } from "./field-schema.js";
import { isRequired, messageSchema } from "./message-schema.js";
import { describer, type FieldPath, type SchemaContext } from "./schema-context.js";
import { nameSchemas, type SchemaUse } from "./schema-names.js";
import type { Definition, Direction, SchemaOptions } from "./schema-options.js";
import { wellKnownSchema } from "./value-schemas.js";

/** Collects the schemas of the messages and enumerations that a document refers to. */
export interface MessageSchemas {
  comment(definition: Definition): string | undefined;
  /**
   * Returns a reference to the schema of a message without the `excluded` paths, and collects the schema. For a type
   * with a special JSON form, such as Timestamp, returns the schema itself.
   */
  refer(message: DescMessage, direction: Direction, excluded?: readonly FieldPath[]): JsonObject;
  /** Returns the schema of one field, without the `excluded` paths below the field. */
  ofField(field: DescField, direction: Direction, excluded?: readonly FieldPath[]): JsonObject;
  isRequired(field: DescField, direction: Direction): boolean;
  /**
   * Gives each collected schema a name that is not in `taken`. Returns the schemas by name. `rename` replaces the
   * temporary references in a JSON value by references with these names.
   */
  named(taken: readonly string[]): { readonly schemas: JsonObject; rename<T extends JsonValue>(json: T): T };
}

interface CollectedUse extends SchemaUse {
  schema: JsonObject;
}

const PREFIX = "#/components/schemas/";

/**
 * Creates a collection of schemas. Their descriptions contain proto comments, with the JSON names of fields in place of
 * the proto names. This replacement knows the fields of the messages in `files` and in all their imports.
 *
 * A message has a separate schema for each direction and for each set of excluded fields. The name of a schema depends
 * on the other schemas, so references contain temporary names until `named` is called.
 */
export function createMessageSchemas(options: SchemaOptions, files: Iterable<DescFile>): MessageSchemas {
  const uses = new Map<string, CollectedUse>();
  const refer = (use: SchemaUse, make: () => JsonObject): JsonObject => {
    const $ref = PREFIX + [use.definition.typeName, use.direction ?? "", ...use.excluded].join(" ");
    if (!uses.has($ref)) {
      const collected = { ...use, schema: {} };
      uses.set($ref, collected);
      collected.schema = make();
    }
    return { $ref };
  };
  const context: SchemaContext = {
    options,
    ...describer(options, createCommentText(files)),
    messageSchema: (message, direction, excluded) =>
      wellKnownSchema(message, direction) ??
      refer({ definition: message, direction, excluded: excluded.map(jsonPath) }, () =>
        messageSchema(message, direction, excluded, context),
      ),
    enumReference: (definition: DescEnum) =>
      definition.typeName === "google.protobuf.NullValue"
        ? { type: "null" }
        : refer({ definition, direction: undefined, excluded: [] }, () => enumSchema(definition, context)),
  };
  return {
    comment: context.comment,
    refer: (message, direction, excluded = []) => context.messageSchema(message, direction, excluded),
    ofField: (field, direction, excluded = []) => fieldSchema(field, { direction, excluded }, context),
    isRequired: (field, direction) => isRequired(field, direction, context),
    named: (taken) => nameAll(uses, taken),
  };
}

function nameAll(
  uses: ReadonlyMap<string, CollectedUse>,
  taken: readonly string[],
): ReturnType<MessageSchemas["named"]> {
  const all = [...uses.values()];
  const names = nameSchemas(all, taken);
  const references = new Map([...uses].map(([reference], index) => [reference, `${PREFIX}${names[index]}`]));
  const rename = <T extends JsonValue>(json: T): T => renamed(json, references) as T;
  return { schemas: Object.fromEntries(all.map(({ schema }, index) => [names[index], rename(schema)])), rename };
}

function renamed(json: JsonValue, references: ReadonlyMap<string, string>): JsonValue {
  if (typeof json === "string") return references.get(json) ?? json;
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map((item) => renamed(item, references));
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, renamed(value, references)]));
}

function jsonPath(path: FieldPath): string {
  return path.map(({ jsonName }) => jsonName).join(".");
}
