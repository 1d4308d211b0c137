import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { barPlot } from "./bar-plot.mjs";
import { describeMachine } from "./describe-machine.mjs";
import { markdownTable } from "./markdown-table.mjs";
import { outFolder } from "./out-folder.mjs";

/**
 * Prints a table in Markdown below the day and the machine, and writes it with its `results` and `bars` as {@link writeResults} does.
 *
 * @param {{ name: string, title: string, head: readonly string[], rows: readonly (readonly string[])[], results: object,
 *   bars?: readonly { label: string, value: number }[] }} published
 */
export async function publish({ name, title, head, rows, results, bars = [] }) {
  const machine = describeMachine();
  const table = `${machine}\n\n${markdownTable(head, rows)}\n`;
  console.log(table);
  await writeResults({ name, title, text: table, results, bars });
}

/**
 * With --out=FOLDER among the program's arguments writes a text there to NAME.md, `results`, which are all that was measured, to
 * NAME.json, and the `bars`, where there are any, as a plot to NAME.svg.
 */
export async function writeResults({ name, title, text, results, bars = [] }) {
  const folder = outFolder();
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  const machine = describeMachine();
  await writeFile(join(folder, `${name}.md`), text);
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify({ machine, ...results }, undefined, 2)}\n`);
  if (bars.length > 0) await writeFile(join(folder, `${name}.svg`), barPlot({ title, note: machine, bars }));
}
