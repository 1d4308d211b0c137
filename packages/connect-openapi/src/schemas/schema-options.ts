import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescMessage,
  DescMethod,
  DescService,
  JsonObject,
} from "@bufbuild/protobuf";
import type { UntranslatedRule } from "../rules/translation.js";

/** A definition in a proto that can have a comment. */
export type Definition = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

/**
 * Where a message occurs: in a request, a response or an error. Schemas of requests are closed. A member of a response
 * is required if its message always contains it. A member of an error is required only if its proto says so.
 */
export type Direction = "request" | "response" | "error";

/** Returns a reference to the schema of a message, and adds the schema to the document. */
export type Refer = (message: DescMessage, direction: Direction) => JsonObject;

/** Options for converting messages to schemas. Each has a default. */
export interface SchemaOptions {
  /**
   * Returns the comment of a definition as its proto has it, or undefined for none. Wrapped lines are joined, and names of
   * fields get their JSON spelling. Defaults to no comments, because generated code does not keep them: see
   * {@link sourceComments}.
   */
  readonly comment?: (definition: Definition) => string | undefined;
  /** Returns the final schema of a message, a field or an enumeration, from the generated one. */
  readonly schema?: (definition: DescMessage | DescField | DescEnum, generated: JsonObject) => JsonObject;
  /**
   * Returns whether a member is required, or undefined for the default. By default it is required if protovalidate's
   * `required`, `google.api.field_behavior` or proto2 says so. In responses it is also required if its presence is
   * implicit: `@cupo/connect-rest` writes such a field even if it has its default value. Connect's own JSON omits it,
   * so return false there.
   */
  readonly isRequired?: (field: DescField, direction: Direction) => boolean | undefined;
  /** Returns the values of an enumeration that clients can meet. Defaults to all. */
  readonly enumValues?: (definition: DescEnum) => readonly DescEnumValue[];
  /** Keywords of CEL rules by their id, for rules whose expression does not show the best keyword. */
  readonly keywordsByRule?: Readonly<Record<string, JsonObject>>;
  /**
   * Returns a sentence for the description, about a rule that no keyword expresses in full, or undefined for none. It may
   * throw to refuse such rules. Defaults to the message of the rule.
   */
  readonly untranslated?: (rule: UntranslatedRule) => string | undefined;
}

/** Returns the name of a definition: `library.v1.Book`, `library.v1.Book.title`. */
export function definitionName(definition: Definition): string {
  return "typeName" in definition ? definition.typeName : `${definition.parent.typeName}.${definition.name}`;
}
