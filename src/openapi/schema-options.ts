import type { DescField, JsonObject } from "@bufbuild/protobuf";
import type { SchemaOptions, UntranslatedRule } from "@cupo/connect-openapi";
import { readableWithScopeOf } from "../proto-options.js";
import { definitionComment } from "./definition-comment.js";
import { withCodes } from "./error-codes.js";

/**
 * Matches the proto comment of an enum value 0 that is never sent or is refused in requests. The schemas omit such a
 * value.
 */
const UNSAID = /^(?:never sent by the service|refused in requests(?: and never sent by the service)?)\.$/i;

/** Options for converting the protos' messages to schemas, for the OpenAPI documents of both listeners. */
export const schemaOptions: SchemaOptions = {
  comment: definitionComment,
  schema: (definition, schema) =>
    definition.kind === "field" ? withScope(definition, schema) : withCodes(definition, schema),
  isRequired: (field) => (readableWithScopeOf(field) === "" ? undefined : false),
  enumValues: ({ values }) => values.filter((value) => value.number !== 0 || !UNSAID.test(definitionComment(value))),
  keywordsByRule: {
    "string.local_date": { format: "date" },
    "string.mailbox": { format: "email" },
    "repeated.uuids": { items: { format: "uuid" } },
    "repeated.unique_ignoring_case": { uniqueItems: true },
  },
  untranslated,
};

/**
 * Returns the description of a rule that JSON Schema cannot express in full:
 * - for a rule of a whole message: a sentence with the text of the rule; undefined if the rule has no text
 * - for a pattern of a field that JSON Schema tools could reject or understand differently: undefined, because the
 *   comment of the field states the pattern
 *
 * Throws for any other rule of a field, because the document would lack this rule.
 */
function untranslated({ id, message, expression, definition, reason }: UntranslatedRule): string | undefined {
  if (definition.kind === "message") return message === "" ? undefined : `Rule: ${message}.`;
  if (reason === "PATTERN") return undefined;
  throw new Error(`the rule ${id} has no form in JSON Schema: ${expression}`);
}

function withScope(field: DescField, schema: JsonObject): JsonObject {
  const scope = readableWithScopeOf(field);
  const { description } = schema;
  if (scope === "" || typeof description !== "string") return schema;
  return { ...schema, description: `${description} The scope is \`${scope}\`.` };
}
