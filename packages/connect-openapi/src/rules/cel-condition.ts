/**
 * The parts of a CEL expression: conditions that must all be true, and the text that the expression returns if a
 * condition is false.
 */
export interface CelCondition {
  readonly conditions: readonly string[];
  /**
   * The `text` of an expression `condition ? '' : 'text'`, with `%d` and `%s` not replaced; "" for other expressions.
   */
  readonly text: string;
}

const emptyThen = /^\s*(?:''|"")\s*:/;
const quoted = /^\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")(?:\.format\(\[rule\]\))?\s*$/su;
const escapes: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const escape = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2})|(.))/gsu;

/**
 * Splits a CEL expression into its conditions. An expression of these forms has the conditions `a` and `b`:
 * - `a && b`
 * - `a && b ? '' : 'text'`
 * - `(a && b) || !rule`, where `rule` is the value of a predefined rule. `|| !rule` is dropped, because rules with the
 *   value false are not translated.
 *
 * An expression of another form is one condition.
 */
export function celCondition(expression: string): CelCondition {
  const [condition = "", otherwise, ...nested] = splitTop(expression, "?");
  const isText = otherwise !== undefined && emptyThen.test(otherwise) && nested.length === 0;
  if (otherwise !== undefined && !isText) return { conditions: [expression], text: "" };
  const text = isText ? (quoted.exec(otherwise.replace(emptyThen, "")) ?? []) : [];
  const [alternative = "", switchedOff, ...others] = splitTop(isText ? condition : expression, "||");
  const isSwitch = switchedOff?.trim() === "!rule" && others.length === 0;
  const whole = isSwitch || switchedOff === undefined ? alternative : isText ? condition : expression;
  return { conditions: conjuncts(whole), text: unescape(text[1] ?? text[2] ?? "") };
}

/** Replaces the escape sequences of a CEL string literal. `literal` is the text between its quotes. */
export function unescape(literal: string): string {
  return literal.replace(escape, (_, u?: string, U?: string, x?: string, octal?: string, other = "") => {
    const hex = u ?? U ?? x;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    return escapes[other] ?? other;
  });
}

function conjuncts(expression: string): string[] {
  const inner = withoutParentheses(expression.trim());
  const parts = splitTop(inner, "||").length > 1 ? [inner] : splitTop(inner, "&&");
  return parts.length > 1 ? parts.flatMap(conjuncts) : [inner];
}

function withoutParentheses(expression: string): string {
  if (!expression.startsWith("(") || !expression.endsWith(")")) return expression;
  const inner = expression.slice(1, -1);
  return lowestDepth(inner) < 0 ? expression : withoutParentheses(inner.trim());
}

function lowestDepth(expression: string): number {
  let lowest = 0;
  for (const { depth } of outsideTexts(expression)) lowest = Math.min(lowest, depth);
  return lowest;
}

/** Splits an expression at each `operator` that is outside of string literals and brackets. */
function splitTop(expression: string, operator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const { at, depth } of outsideTexts(expression)) {
    if (depth > 0 || at < start || !expression.startsWith(operator, at)) continue;
    parts.push(expression.slice(start, at));
    start = at + operator.length;
  }
  return [...parts, expression.slice(start)];
}

/** Yields the index of each character outside of string literals, and the number of brackets around the character. */
function* outsideTexts(expression: string): Generator<{ readonly at: number; readonly depth: number }> {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < expression.length; at++) {
    const character = expression.charAt(at);
    if (quote !== "" && character === "\\") at++;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else {
      if (")]}".includes(character)) depth--;
      yield { at, depth };
      if ("([{".includes(character)) depth++;
    }
  }
}
