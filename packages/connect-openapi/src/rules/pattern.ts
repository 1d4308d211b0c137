/** Matches RE2 syntax that patterns of JSON Schema (ECMA-262) do not have, or that means something else in them. */
const re2Only = /\\[pPAzZQEC]|\\x\{|\[\[:|\(\?(?!:)/;
const beyondPlaneZero = /[\u{10000}-\u{10ffff}](?:-[\u{10000}-\u{10ffff}])?/gu;
/** Matches an escape, a character class or a dot. */
const part = /\\.|\[(?:\\.|[^\]\\])*\]|\./gsu;
const blanks = "\\t\\n\\f\\r ";
const oneClass = /^\[[^^\]](?:[^\]\\]|\\.)*\]$/su;

/**
 * Converts an RE2 expression to a `pattern` of JSON Schema. Escapes all characters outside of printable ASCII. Writes
 * `.`, `\s` and `\S` as classes, because they match fewer or more characters in ECMA-262. If `isForbidden` is true,
 * values must not match the pattern.
 *
 * Returns undefined if JSON Schema tools could reject the expression or read it in another way:
 * - It has Unicode classes (`\p{L}`), flags or other syntax of RE2.
 * - It has a character above U+FFFF, which tools without Unicode mode read as two characters.
 * - It has `\S` in a character class.
 *
 * The second case has an exception if `isForbidden` is true and the expression is one character class, not negated. Its
 * characters above U+FFFF are then removed. For example, `[<\u{1F600}]` becomes `[<]`, which forbids fewer values.
 */
export function patternOf(expression: string, isForbidden: boolean): string | undefined {
  if (re2Only.test(withoutEscapedBackslashes(expression))) return undefined;
  const plain = isForbidden && oneClass.test(expression) ? expression.replace(beyondPlaneZero, "") : expression;
  if (plain.search(beyondPlaneZero) >= 0 || plain === "[]") return undefined;
  if (!compiles(plain)) return undefined;
  const parts = plain.match(part) ?? [];
  if (parts.some((each) => each.startsWith("[") && withoutEscapedBackslashes(each).includes("\\S"))) return undefined;
  const pattern = plain.replace(part, asInRe2).replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return pattern;
}

/** Returns a part of an expression in the syntax of ECMA-262, with the meaning that it has in RE2. */
function asInRe2(each: string): string {
  if (each === ".") return "[^\\n]";
  if (each === "\\s") return `[${blanks}]`;
  if (each === "\\S") return `[^${blanks}]`;
  return each.startsWith("[") ? each.replace(/\\./gsu, (escaped) => (escaped === "\\s" ? blanks : escaped)) : each;
}

/** Returns the text with the special characters of patterns escaped. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function withoutEscapedBackslashes(expression: string): string {
  return expression.replaceAll("\\\\", "");
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
