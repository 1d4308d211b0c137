import { percentDecode } from "./percent-decode.js";

/** One item of a path template: a decoded literal text, any one segment (`*`), or zero or more segments (`**`). */
export type PathSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "single" }
  | { readonly kind: "rest" };

/**
 * A path variable. It has the template's segments from index `start` to index `end`, not including `end`. If its
 * pattern ends with `**`, `end` is undefined and the variable takes all remaining segments.
 */
export interface PathVariable {
  readonly fieldPath: readonly string[];
  readonly start: number;
  readonly end: number | undefined;
  /**
   * Whether the variable's pattern has `**` or more than one segment. If so, an encoded slash in the value stays
   * encoded.
   */
  readonly multiSegment: boolean;
}

/** A parsed template of google.api.http. `**` occurs at most once, as the last segment. */
export interface PathTemplate {
  readonly source: string;
  readonly segments: readonly PathSegment[];
  readonly variables: readonly PathVariable[];
  readonly verb: string | undefined;
}

interface Cursor {
  readonly source: string;
  at: number;
  readonly segments: PathSegment[];
  readonly variables: PathVariable[];
}

const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const literal = /(?:[A-Za-z0-9\-._~!$&'()+,;=@]|%[0-9A-Fa-f]{2})+/y;

/**
 * Parses a path template. Throws an Error that states the problem and its position in the template. The grammar of
 * google/api/http.proto:
 *
 *     Template = "/" Segments [ Verb ] ;    (and "/" alone, as other servers accept it)
 *     Segments = Segment { "/" Segment } ;
 *     Segment  = "*" | "**" | LITERAL | Variable ;
 *     Variable = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb     = ":" LITERAL ;
 *
 * - `{name}` means `{name=*}`. Variables do not nest. Only a verb may follow `**`.
 * - A LITERAL consists of the pchar of RFC 3986 without `*` and `:`. Other characters, such as `/`, must be
 *   percent-encoded in it.
 * - A verb contains no `:`, not even an encoded one.
 */
export function parsePathTemplate(source: string): PathTemplate {
  const cursor: Cursor = { source, at: 0, segments: [], variables: [] };
  expect(cursor, "/");
  if (source === "/") return { source, segments: [], variables: [], verb: undefined };
  readSegments(cursor, true);
  const verb = accept(cursor, ":") ? readVerb(cursor) : undefined;
  if (cursor.at < source.length) throw unexpected(cursor, 'the end, "/" or ":"');
  return { source, segments: cursor.segments, variables: cursor.variables, verb };
}

function readSegments(cursor: Cursor, variablesAllowed: boolean): void {
  do {
    if (cursor.segments.at(-1)?.kind === "rest") throw failure(cursor, "nothing may follow **");
    readSegment(cursor, variablesAllowed);
  } while (accept(cursor, "/"));
}

function readSegment(cursor: Cursor, variablesAllowed: boolean): void {
  if (accept(cursor, "**")) cursor.segments.push({ kind: "rest" });
  else if (accept(cursor, "*")) cursor.segments.push({ kind: "single" });
  else if (cursor.source[cursor.at] !== "{") cursor.segments.push({ kind: "literal", text: readLiteral(cursor) });
  else if (variablesAllowed) readVariable(cursor);
  else throw failure(cursor, "variables do not nest");
}

function readVariable(cursor: Cursor): void {
  expect(cursor, "{");
  const fieldPath = readFieldPath(cursor);
  const start = cursor.segments.length;
  if (accept(cursor, "=")) readSegments(cursor, false);
  else cursor.segments.push({ kind: "single" });
  expect(cursor, "}");
  const end = cursor.segments.length;
  const toTheEnd = cursor.segments.at(-1)?.kind === "rest";
  const multiSegment = toTheEnd || end - start > 1;
  cursor.variables.push({ fieldPath, start, end: toTheEnd ? undefined : end, multiSegment });
}

function readFieldPath(cursor: Cursor): string[] {
  const names: string[] = [];
  do {
    const name = match(cursor, identifier);
    if (name === undefined) throw unexpected(cursor, "a field name");
    names.push(name);
  } while (accept(cursor, "."));
  return names;
}

function readLiteral(cursor: Cursor): string {
  const raw = match(cursor, literal);
  if (raw === undefined) throw unexpected(cursor, "a literal");
  const text = percentDecode(raw);
  if (text === undefined) throw failure(cursor, "the preceding literal is not UTF-8");
  return text;
}

function readVerb(cursor: Cursor): string {
  const text = readLiteral(cursor);
  if (text.includes(":")) throw failure(cursor, 'the preceding verb contains an encoded ":"');
  return text;
}

function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.source)?.[0];
  cursor.at += found?.length ?? 0;
  return found;
}

function accept(cursor: Cursor, token: string): boolean {
  const found = cursor.source.startsWith(token, cursor.at);
  if (found) cursor.at += token.length;
  return found;
}

function expect(cursor: Cursor, token: string): void {
  if (!accept(cursor, token)) throw unexpected(cursor, `"${token}"`);
}

function unexpected(cursor: Cursor, wanted: string): Error {
  const found = cursor.source[cursor.at];
  return failure(cursor, `expected ${wanted}, found ${found === undefined ? "the end" : `"${found}"`}`);
}

function failure(cursor: Cursor, problem: string): Error {
  return new Error(`path template "${cursor.source}", character ${cursor.at + 1}: ${problem}`);
}
