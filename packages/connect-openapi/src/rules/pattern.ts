/** Syntax of RE2 that JSON Schema's patterns (ECMA-262) lack or read in another way. */
const re2Only = /\\[pPAzZQEC]|\\x\{|\[\[:|\(\?(?!:)/;
const beyondPlaneZero = /[\u{10000}-\u{10ffff}](?:-[\u{10000}-\u{10ffff}])?/gu;
const oneClass = /^\[[^^\]](?:[^\]\\]|\\.)*\]$/su;

/**
 * Converts a regular expression of RE2 to a `pattern` with all characters outside printable ASCII escaped. Returns
 * undefined if tools could read it in another way: with Unicode classes (`\p{L}`), flags or other syntax of RE2.
 *
 * Characters above U+FFFF are two characters for a tool without Unicode mode. A class of forbidden characters omits
 * them, so it forbids fewer. For any other expression with such a character the result is undefined.
 */
export function patternOf(expression: string, isForbidden: boolean): string | undefined {
  if (re2Only.test(withoutEscapedBackslashes(expression))) return undefined;
  const plain = isForbidden && oneClass.test(expression) ? expression.replace(beyondPlaneZero, "") : expression;
  if (plain.search(beyondPlaneZero) >= 0 || plain === "[]") return undefined;
  const pattern = plain.replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return compiles(pattern) ? pattern : undefined;
}

/** Returns a pattern that matches a text literally. */
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
