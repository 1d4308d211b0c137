import type { JsonObject } from "@bufbuild/protobuf";

/**
 * A rule of `cupo/options/v1/rules.proto`: its id, its expression, and the value that a field sets for it (1 for true).
 */
export interface CelRule {
  readonly id: string;
  readonly expression: string;
  readonly value: number;
}

/** Rules that JSON Schema has its own keyword for. The keyword tells readers and tools more than a pattern would. */
const words: Readonly<Record<string, JsonObject>> = {
  "string.local_date": { format: "date" },
  "string.mailbox": { format: "email" },
  "repeated.uuids": { items: { format: "uuid" } },
  "repeated.unique_ignoring_case": { uniqueItems: true },
};

const matching = /(!?)this\.matches\('((?:[^'\\]|\\.)*)'(?:\.format\(\[rule\]\))?\)/g;
const lowest = "this != ''";
const highest = /^size\(this\) <= rule \? '' :/;
const beyondPlaneZero = /[\u{10000}-\u{10ffff}](?:-[\u{10000}-\u{10ffff}])?/gu;
const range = /^\(this >= (\d+) && this <= (\d+)\) \|\| !rule$/;

/**
 * Translates a CEL expression to schemas that must all hold. A pattern that a value must match becomes `pattern`. One
 * that it must not match becomes `pattern` under `not`. JSON Schema searches for both in the same way as CEL.
 *
 * A pattern with Unicode classes (`\p{L}`) is omitted. Many tools do not compile it in Unicode mode, read it as other
 * letters and reject valid input. The field's comment states such a rule in words.
 *
 * Throws for any other kind of expression, so that no rule is omitted unnoticed.
 */
export function celKeywords({ id, expression, value }: CelRule): JsonObject[] {
  const word = words[id];
  if (word !== undefined) return [word];
  if (expression === lowest) return [{ minLength: 1 }];
  if (highest.test(expression)) return [{ maxLength: value }];
  const [, minimum, maximum] = range.exec(expression) ?? [];
  if (minimum !== undefined) return [{ minimum: Number(minimum), maximum: Number(maximum) }];
  const patterns = [...expression.matchAll(matching)].map(([, not, literal = ""]) => {
    const pattern = patternOf(literal, value);
    return not === "" ? { pattern } : { not: { pattern } };
  });
  if (patterns.length === 0) throw new Error(`the rule ${id} has no form in JSON Schema: ${expression}`);
  return patterns.filter((schema) => !JSON.stringify(schema).includes("\\p{"));
}

/**
 * Converts a CEL literal to a pattern with all characters outside printable ASCII escaped. Characters above U+FFFF are
 * omitted for the same reason as Unicode classes; they occur only in classes of forbidden characters.
 */
function patternOf(literal: string, value: number): string {
  const plain = literal.replace(/\\(.)/g, "$1").replace("%d", String(value));
  return plain.replace(beyondPlaneZero, "").replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
