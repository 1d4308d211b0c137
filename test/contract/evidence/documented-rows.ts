/** A row of a table in a document. */
export interface DocumentedRow {
  /** The heading above the table. */
  readonly section: string;
  /** The cell of the column `Id`; undefined in a table without it. */
  readonly id: string | undefined;
  readonly cells: readonly string[];
  /** Whether the row has a non-empty cell for each heading, and no other cells. */
  readonly isComplete: boolean;
}

/** Returns the rows of all tables of a Markdown text. */
export function readRows(text: string): DocumentedRow[] {
  const rows: DocumentedRow[] = [];
  let section = "";
  let headings: readonly string[] | undefined;
  for (const line of text.split("\n")) {
    section = /^#+ (.*)/.exec(line)?.[1] ?? section;
    if (!line.startsWith("|")) headings = undefined;
    else if (headings === undefined) headings = cellsOf(line);
    else if (!/^\|[\s:|-]+\|$/.test(line)) rows.push(rowOf(section, headings, cellsOf(line)));
  }
  return rows;
}

function rowOf(section: string, headings: readonly string[], cells: readonly string[]): DocumentedRow {
  const isComplete = cells.length === headings.length && !cells.includes("");
  return { section, id: cells[headings.indexOf("Id")], cells, isComplete };
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
