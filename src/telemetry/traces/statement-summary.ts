/** The published summary of a statement: its verb and the first table of the verb, if it has one. */
export interface StatementSummary {
  /** In upper case: SELECT, INSERT, UPDATE, DELETE, COMMIT. */
  readonly verb: string;
  readonly table: string | undefined;
}

const MAX_KEPT = 2_000;
const NAME = String.raw`"?(?:\w+"?\."?)?(\w+)`;
const TABLE_OF: Readonly<Record<string, RegExp>> = {
  INSERT: new RegExp(String.raw`\binsert\s+into\s+${NAME}`, "i"),
  UPDATE: new RegExp(String.raw`\bupdate\s+${NAME}`, "i"),
  DELETE: new RegExp(String.raw`\bdelete\s+from\s+${NAME}`, "i"),
  SELECT: new RegExp(String.raw`\bfrom\s+${NAME}`, "i"),
};
const summaries = new Map<string, StatementSummary>();

/**
 * Summarizes a statement (OpenTelemetry's "db.query.summary"). The text contains no values, because they are bound. It
 * is still not published.
 */
export function summarize(text: string): StatementSummary {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const verb = verbOf(text);
  const summary = { verb, table: TABLE_OF[verb]?.exec(text)?.[1]?.toLowerCase() };
  if (summaries.size < MAX_KEPT) summaries.set(text, summary);
  return summary;
}

/**
 * Returns the verb; for a statement with WITH it is the first of INSERT, UPDATE and DELETE that occurs, otherwise
 * SELECT.
 */
function verbOf(text: string): string {
  const first = /^\W*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "SQL";
  if (first !== "WITH") return first;
  return ["INSERT", "UPDATE", "DELETE"].find((verb) => TABLE_OF[verb]?.test(text)) ?? "SELECT";
}
