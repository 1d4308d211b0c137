import type { FileName } from "./source-files.js";

/** The counts of the rows of a file, by outcome. */
export interface Counted {
  readonly name: FileName;
  rows: number;
  created: number;
  unchanged: number;
  rejected: number;
  /**
   * The number of ids in the file for which the service has a resource. This includes the id of a row that was
   * rejected because the row has changed since its import.
   */
  readonly kept: number;
  /** The number of resources of the file's kind that the service has from this source; undefined in a dry run. */
  server: number | undefined;
}

/** Returns the counts of a file before its first row. */
export function emptyCount(name: FileName): Counted {
  return { name, rows: 0, created: 0, unchanged: 0, rejected: 0, kept: 0, server: undefined };
}

/** Whether no row was rejected and `server` equals `kept`. In a dry run, `server` is undefined and is not compared. */
export function isComplete({ rejected, kept, server }: Counted): boolean {
  return rejected === 0 && (server === undefined || server === kept);
}

const COLUMNS = ["rows", "created", "unchanged", "rejected", "service"] as const;

/**
 * Formats the counts as a table with a line for each file. If `server` differs from `kept`, the line states the
 * difference.
 */
export function tableOfCounts(counts: readonly Counted[]): string {
  const lines = counts.map((count) => {
    const { rows, created, unchanged, rejected, server } = count;
    const cells = [rows, created, unchanged, rejected, server ?? "–"].map((cell) => String(cell).padStart(10));
    return `${count.name.padEnd(18)}${cells.join("")}  ${difference(count)}`.trimEnd();
  });
  const head = `${"".padEnd(18)}${COLUMNS.map((name) => name.padStart(10)).join("")}`;
  return ["", head, ...lines, ""].join("\n");
}

function difference({ kept, server }: Counted): string {
  if (server === undefined || server === kept) return "";
  return server > kept
    ? `the service has ${server - kept} more: rows that are no longer in the file`
    : `the service has ${kept - server} fewer`;
}
