/**
 * Matches the parts of SQL text that {@link splitStatements} looks at: comments, literals, quoted names, dollar-quoted
 * bodies, words and semicolons. The group `opens` matches BEGIN ATOMIC and CASE, the group `closes` matches END.
 */
const PARTS = new RegExp(
  [
    String.raw`--[^\n]*`,
    String.raw`/\*.*?\*/`,
    String.raw`\be'(?:[^'\\]|\\.|'')*'`,
    "'[^']*'",
    '"[^"]*"',
    String.raw`\$(?<tag>\w*)\$.*?\$\k<tag>\$`,
    String.raw`(?<opens>\bbegin\s+atomic\b|\bcase\b)`,
    String.raw`(?<closes>\bend\b)`,
    String.raw`\w+`,
    ";",
  ].join("|"),
  "gis",
);
const LEADING_COMMENTS = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)+/;

/**
 * Returns the statements of a migration's text in order, without the semicolons between them and the comments before
 * them. Nested block comments are not supported; the migrations have none. A test compares the result with PostgreSQL's
 * own parser.
 */
export function splitStatements(sql: string): string[] {
  const ends: number[] = [];
  let depth = 0;
  for (const { 0: text, index, groups } of sql.matchAll(PARTS)) {
    if (groups?.["opens"] !== undefined && (depth > 0 || /^begin/i.test(text))) depth++;
    else if (groups?.["closes"] !== undefined && depth > 0) depth--;
    else if (text === ";" && depth === 0) ends.push(index);
  }
  const starts = [0, ...ends.map((end) => end + 1)];
  return starts
    .map((start, number) => sql.slice(start, ends[number]).replace(LEADING_COMMENTS, "").trim())
    .filter((statement) => statement !== "");
}
