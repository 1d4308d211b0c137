import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";

/** A protovalidate rule that no keyword of JSON Schema expresses in full. */
export interface UntranslatedRule {
  /** The rule's name, such as `string.max_bytes`, or the id of a CEL rule. */
  readonly id: string;
  /**
   * A sentence about the rule; "" if there is none. For a CEL rule of a field, its message or the text in its
   * expression. For a CEL rule of a message, only its message.
   */
  readonly message: string;
  /** The expression of a CEL rule, otherwise "". */
  readonly expression: string;
  /** The field or the message that has the rule. */
  readonly definition: DescField | DescMessage;
  /**
   * - FORM: JSON Schema has no keyword for the rule, or this package does not recognize the rule's expression.
   * - PATTERN: the rule has a pattern that JSON Schema tools could reject or read in another way than RE2.
   */
  readonly reason: "FORM" | "PATTERN";
}

/**
 * A rule in terms of JSON Schema: schemas that must all hold, and the parts of the rule that the schemas do not
 * express.
 */
export interface Translation {
  readonly schemas: readonly JsonObject[];
  readonly unsaid: readonly Unsaid[];
}

/** A rule, or a part of a rule, that no keyword expresses in full. */
export type Unsaid = Pick<UntranslatedRule, "id" | "message" | "expression" | "reason">;

/** The empty translation, for example of a rule that restricts nothing or that another function translates. */
export const SAID: Translation = { schemas: [], unsaid: [] };

/** Creates the translation of a rule that one schema expresses in full. */
export function keywords(schema: JsonObject): Translation {
  return { schemas: [schema], unsaid: [] };
}

/** Joins translations of rules that must all hold. */
export function joined(all: readonly Translation[]): Translation {
  return { schemas: all.flatMap(({ schemas }) => schemas), unsaid: all.flatMap(({ unsaid }) => unsaid) };
}

/**
 * Returns the default sentence about a rule that no keyword expresses: its message or, without a message, its
 * expression. Returns undefined if the rule has neither.
 */
export function sentenceOf({ message, expression }: UntranslatedRule): string | undefined {
  if (message !== "") return `Rule: ${message.replace(/\.$/, "")}.`;
  return expression === "" ? undefined : `Rule: \`${expression}\`.`;
}
