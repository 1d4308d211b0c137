import { existsSync, readFileSync } from "node:fs";

/** A row of a table in a document whose last column names tests. */
export interface DocumentedRow {
  /** The heading that the table stands under. */
  readonly section: string;
  readonly cells: readonly string[];
  /** What the last cell holds: each `file › title`, with the file below test/, or `awaits: something`. */
  readonly tests: readonly string[];
}

/**
 * What documents may say that a rule still awaits, and whether it is still to be awaited. A row that awaits something has
 * no test; once it has come, the row must name one.
 */
const awaited: Readonly<Record<string, () => boolean>> = {};

/** The rows of all tables of a Markdown document, which is named by its path from here. */
export function readRows(path: string): DocumentedRow[] {
  let section = "";
  const rows: DocumentedRow[] = [];
  for (const line of sourceOf(path).split("\n")) {
    const heading = /^#+ (.*)/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    if (!line.startsWith("|") || /^\|[\s:|-]+\|$/.test(line)) continue;
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const last = cells.at(-1) ?? "";
    if (last === "Test") continue;
    rows.push({
      section,
      cells: cells.slice(0, -1),
      tests: last === "" ? [] : last.split("<br>").map((each) => each.trim()),
    });
  }
  return rows;
}

/** What is wrong with the tests that a row names, a line each. */
export function problemsOf({ cells, tests }: DocumentedRow): string[] {
  const rule = cells.join(" · ");
  if (tests.length === 0) return [`no test is named for: ${rule}`];
  return tests.flatMap((named) => {
    const problem = problemOf(named);
    return problem === undefined ? [] : [`${problem}, in: ${rule}`];
  });
}

function problemOf(named: string): string | undefined {
  const awaiting = /^awaits: (.*)$/.exec(named)?.[1];
  if (awaiting !== undefined) {
    if (awaited[awaiting] === undefined) return `nobody knows what ${awaiting} is`;
    return awaited[awaiting]() ? undefined : `${awaiting} has come: name the tests`;
  }
  const [file = "", title = ""] = named.replaceAll("`", "").split(" › ");
  if (!existsSync(new URL(`../${file}`, import.meta.url))) return `there is no file ${file}`;
  return hasTitle(sourceOf(`../${file}`), title) ? undefined : `${file} has no test "${title}"`;
}

/** Whether a test or a group of tests has this title in the source, where placeholders stand as they were written. */
function hasTitle(source: string, title: string): boolean {
  const literal = title.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  return title !== "" && new RegExp(`[(?:\\n]\\s*(["\`])${literal}\\1\\s*[,:]`).test(source);
}

function sourceOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
