/** Shows the progress of an import. */
export interface Progress {
  /** Shows the fraction of a file that is done (`part`, 0 to 1), and the number of rows so far. */
  show(fileName: string, part: number, rows: number): void;
  /** Removes the bar, so that a line can be written. */
  clear(): void;
}

/** The output that shows progress. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const WIDTH = 30;
/** Milliseconds between two updates of the bar on a terminal. */
const BAR_EVERY_MS = 100;
/** Milliseconds between two lines of progress on an output that is not a terminal. */
const LINE_EVERY_MS = 10_000;
const ERASE_LINE = "\r\u001b[K";

/**
 * Returns a display of the progress. On a terminal, it shows a bar. On any other output, it writes a line at most every
 * 10 s and at the end of each file. `now` returns milliseconds.
 */
export function openProgress(output: ProgressOutput, now: () => number): Progress {
  const isTerminal = output.isTTY === true;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(fileName, part, rows) {
      const isDone = part >= 1;
      if (!isDone && now() - shownAt < (isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS)) return;
      shownAt = now();
      const percent = `${Math.floor(part * 100)} %`.padStart(5);
      const counted = `${fileName}: ${percent}, ${rows} rows`;
      output.write(isTerminal ? `${ERASE_LINE}${bar(part)} ${counted}${isDone ? "\n" : ""}` : `${counted}\n`);
    },
    clear() {
      if (isTerminal) output.write(ERASE_LINE);
    },
  };
}

function bar(part: number): string {
  const filled = Math.round(Math.min(part, 1) * WIDTH);
  return `[${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}]`;
}
