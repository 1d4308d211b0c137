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

/** A proto definition that the document describes. */
export type Definition = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

/**
 * The place where a message occurs: a request, a response or an error. The schema of a request forbids unknown members.
 * In a response, a member is required if the server always sends it. In an error, a member is required only if the
 * proto file requires the field.
 */
export type Direction = "request" | "response" | "error";

/** Returns a reference to the schema of a message, and adds the schema to the document. */
export type Refer = (message: DescMessage, direction: Direction) => JsonObject;

/** Options for converting messages to schemas. Each has a default. */
export interface SchemaOptions {
  /**
   * Returns the comment of a definition as it is in the proto file, or undefined for none. The document joins wrapped
   * lines and writes the names of fields in their JSON spelling. By default the document has no comments, because
   * generated code does not contain them. {@link sourceComments} reads them from descriptors.
   */
  readonly comment?: (definition: Definition) => string | undefined;
  /**
   * Returns the final schema of a message, a field or an enumeration. `generated` is the schema without this option.
   */
  readonly schema?: (definition: DescMessage | DescField | DescEnum, generated: JsonObject) => JsonObject;
  /**
   * Returns whether a field is required, or undefined for the default. By default:
   * - OUTPUT_ONLY fields are not required in requests, and INPUT_ONLY fields are not required in responses.
   * - Any other field is required if protovalidate's `required`, `google.api.field_behavior` or proto2 says so.
   * - In responses, fields of implicit presence are also required, because `@cupo/connect-rest` writes them even with
   *   their default value.
   *
   * Connect's own JSON omits default values. To describe it, return false for fields of implicit presence in responses.
   */
  readonly isRequired?: (field: DescField, direction: Direction) => boolean | undefined;
  /** Returns the values of an enumeration that the document shows. Defaults to all. */
  readonly enumValues?: (definition: DescEnum) => readonly DescEnumValue[];
  /**
   * Keywords for the CEL rules of fields, by the id of the rule. They replace the keywords and the sentence that are
   * derived from the rule.
   */
  readonly keywordsByRule?: Readonly<Record<string, JsonObject>>;
  /**
   * Returns a sentence about a rule that no keyword expresses in full. The sentence is added to the description.
   * Undefined adds no sentence. If this function throws, the document is not created. Defaults to the message of the
   * rule or, without a message, its expression.
   */
  readonly untranslated?: (rule: UntranslatedRule) => string | undefined;
}

/**
 * Returns the full name of a definition, such as `library.v1.Book` or `library.v1.Book.title`. The name of an enum
 * value contains the name of its enum: `library.v1.State.OPEN`.
 */
export function definitionName(definition: Definition): string {
  return "typeName" in definition ? definition.typeName : `${definition.parent.typeName}.${definition.name}`;
}
