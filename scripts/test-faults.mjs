/**
 * Runs the tests of faults and storms at length, one file behind the other in an order that is another each time, until the
 * minutes are over, and ends with a Markdown table of what came of each. What is killed, cut and called at once is left to
 * chance in most of them, so that every run is another one.
 *
 *     npm run test:faults -- [--minutes N] [FILTER...]
 *
 * A filter is the beginning of a path, such as test/faults/kill-storm. Where no minutes are given, each file is run once, the
 * simulation with ten times as many commands.
 * How long a storm is, and how often something is killed, is what the environment says, else what {@link LONG} does, but for
 * {@link LONG_IN_MINUTES}. Ends with 1 where a test failed; every failure is printed with its message.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readResults } from "./test-results.mjs";

/** Several times what `npm test` takes of each. */
const LONG = {
  STORM_SECONDS: "30",
  KILLS: "8",
  CUTS: "100",
  LAST_UNIT_TRIALS: "60",
  ROLLOUT_REQUESTS: "40",
  SIMULATION_COMMANDS: "100000",
  EVERY_STATEMENT: "1",
  PAUSES: "none",
};
/** What takes longer than all the minutes would leave none for the other files. */
const LONG_IN_MINUTES = { SIMULATION_COMMANDS: "10000" };
/** What races, beside the folder of faults. */
const STORMS = ["storm", "storm-defects", "last-unit", "visit-storm", "materialization-races", "lock-order"];
/** What is played to the service and to a model of it, and the defects that this must see. */
const SIMULATIONS = ["simulation", "simulation-defects"];
const RESULTS = "build/test-faults";
const LONGEST_FILE_MS = 60 * 60_000;

const { values, positionals } = parseArgs({ options: { minutes: { type: "string" } }, allowPositionals: true });
const minutes = values.minutes === undefined ? 0 : Number(values.minutes);
if (!Number.isFinite(minutes) || minutes < 0) throw new Error(`--minutes takes a number, not ${values.minutes}`);
rmSync(RESULTS, { recursive: true, force: true });
mkdirSync(RESULTS, { recursive: true });
const rows = runFor(minutes * 60_000, filesOf(positionals));
const allFailures = rows.flatMap(({ failures }) => failures);
for (const failure of allFailures) console.log(`failed: ${failure}\n`);
console.log(`\n| file | runs | passed | failed |\n| --- | ---: | ---: | ---: |\n${rows.map(lineOf).join("\n")}`);
process.exitCode = allFailures.length === 0 && rows.every(({ failed }) => failed === 0) ? 0 : 1;

function filesOf(filters) {
  const faults = readdirSync("test/faults").map((name) => `test/faults/${name}`);
  const storms = STORMS.map((name) => `test/schedule/${name}.test.ts`);
  const simulations = SIMULATIONS.map((name) => `test/simulation/${name}.test.ts`);
  const all = [...faults.filter((path) => path.endsWith(".test.ts")), ...storms, ...simulations];
  const chosen = all.filter((path) => filters.length === 0 || filters.some((filter) => path.startsWith(filter)));
  if (chosen.length === 0) throw new Error(`there is no ${filters.join(", ")}, but ${all.join(", ")}`);
  return chosen;
}

/** With no time to spend, every file once; else file after file while there is time left, round after round. */
function runFor(ms, files) {
  const end = performance.now() + ms;
  const all = new Map(files.map((file) => [file, { file, runs: 0, passed: 0, failed: 0, failures: [] }]));
  do {
    for (const file of shuffled(files)) {
      if (ms > 0 && performance.now() > end) break;
      add(all.get(file), runOnce(file));
    }
  } while (performance.now() < end);
  return [...all.values()];
}

function add(row, { passed, failed, failures }) {
  row.runs += 1;
  row.passed += passed;
  row.failed += failed;
  row.failures.push(...failures);
}

function runOnce(file) {
  const results = join(RESULTS, "results.json");
  rmSync(results, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
  spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...reporters, file], {
    env: { ...LONG, ...(minutes > 0 ? LONG_IN_MINUTES : {}), ...process.env },
    stdio: "inherit",
    timeout: LONGEST_FILE_MS,
    killSignal: "SIGKILL",
  });
  return readResults(results);
}

function shuffled(files) {
  const left = [...files];
  return files.map(() => left.splice(randomInt(left.length), 1)[0]);
}

function lineOf({ file, runs, passed, failed }) {
  return `| ${file} | ${runs} | ${passed} | ${failed} |`;
}
