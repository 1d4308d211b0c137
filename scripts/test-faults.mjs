/**
 * Runs the tests of faults and storms longer than usual, one file after the other in random order, until the minutes
 * are over. Prints a Markdown table of the results. Most of these tests kill, cut and call at random, so each run
 * differs.
 *
 *     npm run test:faults -- [--minutes N] [FILTER...]
 *
 * A filter is the beginning of a path, such as test/faults/kill-storm. Without minutes, each file runs once, and the
 * simulation runs with ten times as many commands. The environment can override {@link LONG} and {@link
 * LONG_IN_MINUTES}. Prints each failure with its message and exits with 1 if there is any.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readResults } from "./test-results.mjs";

/** Several times the values of `npm test`. */
const LONG = {
  STORM_SECONDS: "30",
  KILLS: "8",
  CUTS: "100",
  LAST_UNIT_TRIALS: "60",
  ROLLOUT_REQUESTS: "40",
  SIMULATION_COMMANDS: "100000",
  REMINDER_DAYS: "24",
  TIME_EVENT_STEPS: "600",
  EVERY_STATEMENT: "1",
  PAUSES: "none",
  NEVER_ANALYSED_SLOTS: "8000,65000,200000",
};
/** With a time limit, larger values would use all of it for one file. */
const LONG_IN_MINUTES = { SIMULATION_COMMANDS: "10000" };
/** Tests of concurrency outside of test/faults. */
const STORMS = ["storm", "storm-defects", "last-unit", "visit-storm", "materialization-races", "lock-order"];
/** Tests that run with larger schedules here. */
const LARGE = ["never-analysed"];
/** The comparison of the service with a model, and the defects that it must detect. */
const SIMULATIONS = ["simulation", "simulation-defects"];
/** Tests of reminders, with more moves of appointments. */
const REMINDERS = ["jobs/time-events-moves", "webhooks/stale-reminders"];
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
  const storms = [...STORMS, ...LARGE].map((name) => `test/schedule/${name}.test.ts`);
  const simulations = SIMULATIONS.map((name) => `test/simulation/${name}.test.ts`);
  const reminders = REMINDERS.map((name) => `test/${name}.test.ts`);
  const all = [...faults.filter((path) => path.endsWith(".test.ts")), ...storms, ...simulations, ...reminders];
  const chosen = all.filter((path) => filters.length === 0 || filters.some((filter) => path.startsWith(filter)));
  if (chosen.length === 0)
    throw new Error(`no test file begins with ${filters.join(", ")}; the files are ${all.join(", ")}`);
  return chosen;
}

/** Runs each file once if `ms` is 0. Otherwise runs file after file, round after round, until the time is over. */
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
