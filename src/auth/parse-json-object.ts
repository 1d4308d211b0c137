/**
 * Parses a JSON object from bytes. Throws SyntaxError or TypeError if:
 * - the bytes are not JSON in UTF-8, or begin with a byte order mark
 * - the JSON value is not an object
 * - an object has two members of the same name. Two parsers could use different values of them, which would be a
 *   security risk (RFC 7519 section 4).
 */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  const text = utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new TypeError("not a JSON object");
  requireUniqueNames(text);
  return value;
}

/** Whether a parsed JSON value is an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const stringOrMark = /"(?:[^"\\]|\\.)*"|[{}:]/g;

/**
 * Throws SyntaxError if an object has two members of the same name. `text` must be valid JSON: every colon outside of
 * strings then follows a member name.
 */
function requireUniqueNames(text: string): void {
  const open: Set<unknown>[] = [];
  let lastString = "";
  for (const [mark] of text.matchAll(stringOrMark)) {
    if (mark === "{") open.push(new Set());
    else if (mark === "}") open.pop();
    else if (mark !== ":") lastString = mark;
    else addName(open.at(-1), JSON.parse(lastString));
  }
}

function addName(names: Set<unknown> | undefined, name: unknown): void {
  if (names?.has(name)) throw new SyntaxError("two members of one name");
  names?.add(name);
}
