/**
 * The summary of an SQL statement: its verb, and its first table. The table is undefined for verbs other than SELECT,
 * INSERT, UPDATE and DELETE, and for a SELECT without FROM.
 */
export interface StatementSummary {
  /** In upper case, such as SELECT, INSERT or COMMIT. */
  readonly verb: string;
  readonly table: string | undefined;
}

const MAX_KEPT = 2_000;
const NAME = String.raw`"?(?:\w+"?\."?)?(\w+)`;
const TABLE_OF: Readonly<Record<string, RegExp>> = {
  INSERT: new RegExp(String.raw`\binsert\s+into\s+${NAME}`, "i"),
  UPDATE: new RegExp(String.raw`(?<!\bfor\s+(?:no\s+key\s+)?)\bupdate\s+${NAME}`, "i"),
  DELETE: new RegExp(String.raw`\bdelete\s+from\s+${NAME}`, "i"),
  SELECT: new RegExp(String.raw`(?<!\bextract\s*\(\s*\w+\s+)\bfrom\s+${NAME}`, "i"),
};
const summaries = new Map<string, StatementSummary>();

/** Returns the summary of a statement (OpenTelemetry's "db.query.summary"). Traces contain it instead of the text. */
export function summarize(text: string): StatementSummary {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const verb = verbOf(text);
  const summary = { verb, table: TABLE_OF[verb]?.exec(text)?.[1]?.toLowerCase() };
  if (summaries.size < MAX_KEPT) summaries.set(text, summary);
  return summary;
}

/**
 * Returns the first word of a statement, in upper case; SQL if there is none. For a statement that begins with WITH,
 * returns INSERT, UPDATE or DELETE: the first in this order that the statement contains. Returns SELECT if it contains
 * none of them.
 */
function verbOf(text: string): string {
  const first = /^\W*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "SQL";
  if (first !== "WITH") return first;
  return ["INSERT", "UPDATE", "DELETE"].find((verb) => TABLE_OF[verb]?.test(text)) ?? "SELECT";
}
