/** A JSON value as it was written: numbers keep their text, and objects keep the order of their members. */
export type JsonTree = null | boolean | string | JsonNumber | readonly JsonTree[] | JsonObject;

/** The text of a JSON number, so that no digit is lost before the target type is known. */
export interface JsonNumber {
  readonly number: string;
}

/** The members of an object by name, in the order they were written. */
export type JsonObject = ReadonlyMap<string, JsonTree>;

export function isJsonObject(tree: JsonTree): tree is JsonObject {
  return tree instanceof Map;
}

/**
 * Thrown for text that {@link readJson} does not accept. The message states the problem and its position in the text,
 * and contains no part of the text.
 */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

interface Cursor {
  readonly text: string;
  readonly maxDepth: number;
  at: number;
  depth: number;
}

const whitespace = /[ \t\n\r]*/y;
const numberText = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const fourHexDigits = /[0-9A-Fa-f]{4}/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Reads JSON text (RFC 8259) in linear time. Throws a {@link JsonSyntaxError} for all other text. Unlike JSON.parse:
 * - Two members of an object with the same unescaped name are an error (RFC 7493 section 2.3).
 * - Objects and arrays nested deeper than `maxDepth` are an error.
 * - Numbers are not rounded.
 *
 * Escaped lone surrogates are accepted. The reader of the field decides whether a string may contain them.
 */
export function readJson(text: string, maxDepth: number): JsonTree {
  const cursor: Cursor = { text, maxDepth, at: 0, depth: 0 };
  skipWhitespace(cursor);
  const tree = readValue(cursor);
  skipWhitespace(cursor);
  if (cursor.at < text.length) throw failure(cursor, "the end was expected");
  return tree;
}

function readValue(cursor: Cursor): JsonTree {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case 0x22:
      return readString(cursor);
    case 0x7b:
      return readNested(cursor, readObject);
    case 0x5b:
      return readNested(cursor, readArray);
    case 0x74:
      return readWord(cursor, "true", true);
    case 0x66:
      return readWord(cursor, "false", false);
    case 0x6e:
      return readWord(cursor, "null", null);
    default:
      return readNumber(cursor);
  }
}

function readNested<T>(cursor: Cursor, read: (cursor: Cursor) => T): T {
  if (cursor.depth === cursor.maxDepth) throw failure(cursor, `nested deeper than ${cursor.maxDepth}`);
  cursor.depth += 1;
  cursor.at += 1;
  skipWhitespace(cursor);
  const value = read(cursor);
  cursor.depth -= 1;
  return value;
}

function readObject(cursor: Cursor): JsonObject {
  const members = new Map<string, JsonTree>();
  if (accept(cursor, 0x7d)) return members;
  do {
    skipWhitespace(cursor);
    if (cursor.text.charCodeAt(cursor.at) !== 0x22) throw failure(cursor, "a member name was expected");
    const start = cursor.at;
    const name = readString(cursor);
    if (members.has(name)) throw failure({ ...cursor, at: start }, "the object already has a member of this name");
    skipWhitespace(cursor);
    if (!accept(cursor, 0x3a)) throw failure(cursor, '":" was expected');
    members.set(name, readElement(cursor));
  } while (accept(cursor, 0x2c));
  if (!accept(cursor, 0x7d)) throw failure(cursor, '"," or "}" was expected');
  return members;
}

function readArray(cursor: Cursor): JsonTree[] {
  const items: JsonTree[] = [];
  if (accept(cursor, 0x5d)) return items;
  do items.push(readElement(cursor));
  while (accept(cursor, 0x2c));
  if (!accept(cursor, 0x5d)) throw failure(cursor, '"," or "]" was expected');
  return items;
}

function readElement(cursor: Cursor): JsonTree {
  skipWhitespace(cursor);
  const value = readValue(cursor);
  skipWhitespace(cursor);
  return value;
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  let parts = "";
  let start = cursor.at + 1;
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) break;
    if (code === 0x5c) {
      cursor.at = at + 1;
      parts += text.slice(start, at) + readEscape(cursor);
      start = at = cursor.at;
    } else if (code >= 0x20) at += 1;
    else
      throw failure(
        { ...cursor, at },
        at < text.length ? "a string contains a control character" : "a string has no end",
      );
  }
  cursor.at = at + 1;
  return parts + text.slice(start, at);
}

function readEscape(cursor: Cursor): string {
  const letter = cursor.text.charAt(cursor.at);
  cursor.at += 1;
  if (letter === "u") return String.fromCharCode(Number.parseInt(match(cursor, fourHexDigits, "four hex digits"), 16));
  const character = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (character === undefined) throw failure({ ...cursor, at: cursor.at - 1 }, "unknown escape sequence");
  return character;
}

function readNumber(cursor: Cursor): JsonNumber {
  return { number: match(cursor, numberText, "a value") };
}

function readWord<T>(cursor: Cursor, word: string, value: T): T {
  if (!cursor.text.startsWith(word, cursor.at)) throw failure(cursor, "a value was expected");
  cursor.at += word.length;
  return value;
}

function match(cursor: Cursor, pattern: RegExp, wanted: string): string {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found === undefined) throw failure(cursor, `${wanted} ${wanted.endsWith("s") ? "were" : "was"} expected`);
  cursor.at += found.length;
  return found;
}

function accept(cursor: Cursor, code: number): boolean {
  if (cursor.text.charCodeAt(cursor.at) !== code) return false;
  cursor.at += 1;
  return true;
}

function skipWhitespace(cursor: Cursor): void {
  const code = cursor.text.charCodeAt(cursor.at);
  if (code > 0x20 || Number.isNaN(code)) return;
  whitespace.lastIndex = cursor.at;
  cursor.at += whitespace.exec(cursor.text)?.[0].length ?? 0;
}

function failure({ at }: Cursor, problem: string): JsonSyntaxError {
  return new JsonSyntaxError(`not JSON at character ${at + 1}: ${problem}`);
}
