import { randomUUID } from "node:crypto";
import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { messageValidatorOf } from "../../../src/interceptors/validation/validate-message.js";
import { definitionComment } from "../../../src/openapi/definition-comment.js";
import { servedServices } from "../../../src/services/services.js";

/** The lowest and the highest number of a field, of its items or of its characters, as its comment states them. */
interface Stated {
  readonly field: DescField;
  readonly lowest: number;
  readonly highest: number;
}

const requests = servedServices.flatMap(({ service }) => service.methods.map(({ input }) => input));
const messages = requests.reduce((found, request) => addNested(request, found), new Set<DescMessage>());
const fields = [...messages].filter(({ typeName }) => typeName.startsWith("cupo.")).flatMap((each) => each.fields);
const RANGE = /(?<![:\d])(\d+) to (\d+(?:,\d{3})*)(?![:\d])/;
const MOST_ITEMS = /\b(?:at most|up to) (\d+)(?:, | types| different)/i;
const MOST_CHARACTERS = /\b(?:at most|up to) (\d+) (?:\w+ )*characters/i;

const numbers = fields
  .filter(({ fieldKind, scalar }) => fieldKind === "scalar" && scalar === ScalarType.INT32)
  .flatMap((field) => statedIn(field, RANGE));
const lists = fields
  .filter(({ fieldKind }) => fieldKind === "list")
  .flatMap((field) => statedIn(field, MOST_ITEMS, RANGE));
const texts = fields
  .filter(({ fieldKind, scalar }) => fieldKind === "scalar" && scalar === ScalarType.STRING)
  .flatMap((field) => statedIn(field, MOST_CHARACTERS));

describe("the limits that a comment states apply", () => {
  test.each(numbers.map((stated) => [String(stated.field), stated] as const))("to the number %s", (_, stated) => {
    const { field, lowest, highest } = stated;
    const around = [lowest - 1, lowest, highest, highest + 1];
    expect(around.map((value) => codesOf(field, value).length > 0)).toEqual([true, false, false, true]);
  });

  test.each(lists.map((stated) => [String(stated.field), stated] as const))("to the items of %s", (_, stated) => {
    const { field, lowest, highest } = stated;
    const codesWith = (count: number) =>
      codesOf(
        field,
        Array.from({ length: count }, (__, i) => itemOf(field, i)),
      );
    expect(codesWith(highest)).not.toContain("TOO_MANY");
    expect(codesWith(highest + 1)).toContain("TOO_MANY");
    if (lowest > 0) expect(codesWith(lowest - 1)).toEqual([expect.stringMatching(/^(?:REQUIRED|TOO_FEW)$/)]);
  });

  test.each(texts.map((stated) => [String(stated.field), stated] as const))("to the characters of %s", (_, stated) => {
    const { field, highest } = stated;
    expect(codesOf(field, "x".repeat(highest))).not.toContain("TOO_LONG");
    expect(codesOf(field, "x".repeat(highest + 1))).toContain("TOO_LONG");
  });
});

/** Adds a message and the messages of its fields, at any depth. Returns all messages. */
function addNested(message: DescMessage, found: Set<DescMessage>): Set<DescMessage> {
  if (found.has(message)) return found;
  found.add(message);
  for (const field of message.fields) if (field.message !== undefined) addNested(field.message, found);
  return found;
}

/** Returns the limits by the first pattern that the comment of a field has. A pattern with one number is a maximum. */
function statedIn(field: DescField, ...patterns: readonly RegExp[]): Stated[] {
  const comment = definitionComment(field).replaceAll(/\s+/g, " ");
  const [, first, last] = patterns.map((pattern) => pattern.exec(comment)).find((match) => match !== null) ?? [];
  if (first === undefined) return [];
  const highest = Number((last ?? first).replace(",", ""));
  return [{ field, lowest: last === undefined ? 0 : Number(first), highest }];
}

/** Returns the codes of the errors in a field of a message that has only this field. */
function codesOf(field: DescField, value: unknown): string[] {
  const message = create(field.parent, { [field.localName]: value });
  return messageValidatorOf(field.parent)(message)
    .filter((error) => error.field === field.jsonName)
    .map(({ code }) => code);
}

/** Returns one of several different items of a list. */
function itemOf({ message, scalar }: DescField, index: number): unknown {
  if (message !== undefined) return create(message);
  return scalar === ScalarType.STRING ? randomUUID() : index + 1;
}
