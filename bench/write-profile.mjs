import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMachine } from "./describe-machine.mjs";
import { flameGraph } from "./flame-graph.mjs";
import { markdownTable } from "./markdown-table.mjs";
import { stageTable } from "./stage-table.mjs";
import { stagedTree } from "./staged-tree.mjs";

/**
 * Writes the CPU profile and the flame graph of some calls to a folder, by their name, and gives what a report says of them: a row of
 * its first table, and a section with a table of stages.
 *
 * @param {string} folder
 * @param {{ name: string, count: number, profile: object, us: number, profiledUs: number }} profiled as profileCalls gives it
 */
export async function writeProfile(folder, { name, count, profile, us, profiledUs }) {
  const file = name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
  const tree = stagedTree(profile);
  const note = `${describeMachine()}; ${count} calls, ${us.toFixed(0)} µs of processor time each`;
  await writeFile(join(folder, `${file}.cpuprofile`), JSON.stringify(profile));
  await writeFile(join(folder, `${file}.svg`), flameGraph({ title: name, note, tree }));
  const figures = [count, us.toFixed(0), profiledUs.toFixed(0), tree.samples];
  return {
    row: [name, ...figures.map(String)],
    section: `## ${name}\n\n![flame graph](${file}.svg)\n\n${stageTable(tree, us)}\n`,
  };
}

/**
 * A report in Markdown on what writeProfile gave.
 *
 * @param {readonly { row: readonly string[], section: string }[]} profiled
 */
export function profileReport(profiled) {
  const head = ["", "calls", "µs of processor time a call", "while it is profiled", "samples"];
  const table = markdownTable(
    head,
    profiled.map(({ row }) => row),
  );
  return `${describeMachine()}\n\n${[`${table}\n`, ...profiled.map(({ section }) => section)].join("\n")}`;
}
