import type { JsonObject } from "@bufbuild/protobuf";

/** A rule of `cupo/options/v1/rules.proto`: its id, its expression, and the value that a field gives it, 1 for true. */
export interface CelRule {
  readonly id: string;
  readonly expression: string;
  readonly value: number;
}

/** What JSON Schema has a word of its own for, which says more to readers and tools than a pattern would. */
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
 * What an expression of CEL demands, as schemas that must all hold: a pattern that a value must match is a `pattern`, one that
 * it must not match is a `pattern` under `not`; JSON Schema searches for both as CEL does. A pattern with classes of Unicode
 * (`\p{L}`) is left out: tools that do not compile it as one of Unicode, and many do not, take it for other letters and
 * refuse what is right; the comment of the field says it in words. Throws for an expression of another kind, so that no rule is
 * left out unnoticed.
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
 * A literal of CEL as a pattern, with every character that is not printable ASCII escaped. Characters above U+FFFF, which
 * stand in classes of what is refused, are left out for the same reason.
 */
function patternOf(literal: string, value: number): string {
  const plain = literal.replace(/\\(.)/g, "$1").replace("%d", String(value));
  return plain.replace(beyondPlaneZero, "").replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
