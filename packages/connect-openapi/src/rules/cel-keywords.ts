import type { JsonObject } from "@bufbuild/protobuf";
import { celCondition, unescape } from "./cel-condition.js";
import { escapePattern, patternOf } from "./pattern.js";
import { joined, keywords, type Translation } from "./translation.js";

/**
 * The JSON type of a value, if the translation of its rules depends on this type; otherwise "other". A "key" is a
 * number or a boolean that is a map key, so in JSON it is text.
 */
export type ValueKind = "string" | "number" | "list" | "map" | "key" | "other";

/** A CEL rule of protovalidate (`buf.validate.Rule`). */
export interface CelRule {
  readonly id: string;
  readonly message: string;
  readonly expression: string;
  /**
   * The value that the options of a field assign to a predefined rule. In the expression, this value has the name
   * `rule`. `true` becomes 1. Undefined for a rule that is not predefined, and for bytes, lists and messages.
   */
  readonly value?: string | number;
}

/**
 * Translates one condition of a CEL rule to schemas. `groups` are the texts that the regular expression in
 * {@link forms} captured from the condition. Returns "PATTERN" if JSON Schema tools could read the condition's pattern
 * in another way than CEL. Returns undefined if no keyword expresses the condition.
 */
type Translate = (groups: readonly string[], rule: CelRule, kind: ValueKind) => JsonObject[] | "PATTERN" | undefined;

const TEXT = String.raw`(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")`;
const OPERATOR = "(<=|>=|==|<|>)";
const NUMBER = String.raw`(-?\d+(?:\.\d+)?|rule)u?`;

const forms: readonly (readonly [RegExp, Translate])[] = [
  [new RegExp(`^(!?)this\\.matches\\(${TEXT}(\\.format\\(\\[rule\\]\\))?\\)$`, "su"), matchesKeywords],
  [new RegExp(`^(?:size\\(this\\)|this\\.size\\(\\))\\s*${OPERATOR}\\s*${NUMBER}$`, "u"), sizeKeywords],
  [new RegExp(`^this\\s*${OPERATOR}\\s*${NUMBER}$`, "u"), rangeKeywords],
  [/^this\s*!=\s*(?:''|"")$/u, (_groups, _rule, kind) => (kind === "string" ? [{ minLength: 1 }] : undefined)],
  [/^this\.(isEmail|isHostname|isUri|isUriRef)\(\)$/u, ([name = ""]) => [{ format: formats[name] ?? "" }]],
  [new RegExp(`^(!?)this\\.(startsWith|endsWith|contains)\\(${TEXT}\\)$`, "su"), partKeywords],
];

const formats: Readonly<Record<string, string>> = {
  isEmail: "email",
  isHostname: "hostname",
  isUri: "uri",
  isUriRef: "uri-reference",
};

const sizeWords: Readonly<Partial<Record<ValueKind, string>>> = {
  string: "Length",
  list: "Items",
  map: "Properties",
};

/**
 * Translates a CEL rule to schemas that must all hold. If `own` is defined, returns only this schema.
 *
 * If a condition of the rule cannot be translated, the result contains the schemas of the other conditions, and its
 * `unsaid` contains the rule. For example, a pattern with Unicode classes (`\p{L}`) is not translated: many tools read
 * such a class as literal text and would reject valid input.
 */
export function celKeywords(rule: CelRule, kind: ValueKind, own?: JsonObject): Translation {
  if (own !== undefined) return keywords(own);
  const { conditions, text } = celCondition(rule.expression);
  const translated = conditions.map((condition) => translateCondition(condition, rule, kind));
  const schemas = translated.flatMap((each) => (Array.isArray(each) ? each : []));
  const missing = translated.filter((each) => !Array.isArray(each));
  if (missing.length === 0) return { schemas, unsaid: [] };
  const reason = missing.every((each) => each === "PATTERN") ? "PATTERN" : "FORM";
  const message = rule.message || text.replace(/%[ds]/g, () => String(rule.value ?? ""));
  return joined([
    { schemas, unsaid: [] },
    { schemas: [], unsaid: [{ id: rule.id, message, expression: rule.expression, reason }] },
  ]);
}

function translateCondition(condition: string, rule: CelRule, kind: ValueKind): ReturnType<Translate> {
  for (const [form, translate] of forms) {
    const found = form.exec(condition);
    if (found !== null) return translate(found.slice(1), rule, kind);
  }
  return undefined;
}

function matchesKeywords(
  [not, single, double, isFormat]: readonly string[],
  { value }: CelRule,
): ReturnType<Translate> {
  const literal = unescape(single ?? double ?? "");
  const expression = isFormat === undefined ? literal : literal.replace(/%[ds]/, () => String(value ?? ""));
  const pattern = patternOf(expression, not === "!");
  if (pattern === undefined) return "PATTERN";
  return [not === "!" ? { not: { pattern } } : { pattern }];
}

function sizeKeywords(groups: readonly string[], rule: CelRule, kind: ValueKind): ReturnType<Translate> {
  const size = numberOf(groups[1], rule);
  const word = sizeWords[kind];
  if (size === undefined || word === undefined) return undefined;
  const bounds: Readonly<Record<string, JsonObject>> = {
    "<=": { [`max${word}`]: size },
    "<": { [`max${word}`]: size - 1 },
    ">=": { [`min${word}`]: size },
    ">": { [`min${word}`]: size + 1 },
    "==": { [`min${word}`]: size, [`max${word}`]: size },
  };
  return [bounds[groups[0] ?? ""] ?? {}];
}

function rangeKeywords(groups: readonly string[], rule: CelRule, kind: ValueKind): ReturnType<Translate> {
  const limit = numberOf(groups[1], rule);
  if (kind !== "number" || limit === undefined) return undefined;
  const bounds: Readonly<Record<string, JsonObject>> = {
    "<=": { maximum: limit },
    "<": { exclusiveMaximum: limit },
    ">=": { minimum: limit },
    ">": { exclusiveMinimum: limit },
    "==": { const: limit },
  };
  return [bounds[groups[0] ?? ""] ?? {}];
}

function partKeywords(
  [not, name, single, double]: readonly string[],
  _: CelRule,
  kind: ValueKind,
): ReturnType<Translate> {
  if (kind !== "string") return undefined;
  const text = escapePattern(unescape(single ?? double ?? ""));
  const pattern = patternOf(name === "startsWith" ? `^${text}` : name === "endsWith" ? `${text}$` : text, false);
  if (pattern === undefined) return "PATTERN";
  return [not === "!" ? { not: { pattern } } : { pattern }];
}

function numberOf(text: string | undefined, { value }: CelRule): number | undefined {
  if (text !== "rule") return Number(text);
  return typeof value === "number" ? value : undefined;
}
