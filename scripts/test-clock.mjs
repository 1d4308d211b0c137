/**
 * Runs the tests at critical times of clock and calendar, and prints a Markdown table of the results. Sets the tests'
 * clock (TEST_CLOCK, see test/support/clock.ts) and, if Debian's libfaketime is installed, the machine's clock for the
 * tests and the service processes that they start. PostgreSQL keeps the real clock, on which no test depends: its
 * timeouts do not work under libfaketime.
 *
 *     npm run test:clock [-- MOMENT... [FILTER...]]
 *     npm run test:clock -- --of-the-day [FILTER...]
 *
 * Runs the tests that can depend on the clock, unless there are filters. A filter is the beginning of a path, such as
 * test/schedule. Tests of bytes, faults and other programs (browsers, compilers, poolers, clients of other languages)
 * do not depend on the clock, and not all of those programs work with a changed one. Without a moment, runs at all of
 * them. `--of-the-day` selects one moment and an eighth of the test files, both by the date in UTC. So each test runs
 * at each moment once in 96 days. Exits with 1 if a test or something outside of tests failed, or if a run was stopped
 * because it took too long.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readResults } from "./test-results.mjs";

/**
 * Instants, and the machine's time zone if it is not UTC. `machineOnly` does not set the tests' clock. `testsOnly` does
 * not set the machine's clock, so that this and PostgreSQL's are ahead of the tests' clock by more than any retention
 * period.
 */
const MOMENTS = {
  "before-midnight": { at: "2027-03-09T23:55:00-05:00" },
  "after-midnight": { at: "2027-03-10T00:05:00-05:00" },
  "change-of-date": { at: "2027-03-10T05:00:00Z" },
  "new-years-eve": { at: "2026-12-31T20:00:00-05:00" },
  "leap-day": { at: "2028-02-29T12:00:00-05:00" },
  sunday: { at: "2027-05-02T10:00:00-05:00" },
  holiday: { at: "2026-12-25T15:00:00-05:00" },
  "after-new-year": { at: "2027-01-02T08:15:00-05:00" },
  tokyo: { at: "2027-06-30T21:30:00-05:00", zone: "Asia/Tokyo" },
  kiritimati: { at: "2027-10-31T11:00:00-05:00", zone: "Pacific/Kiritimati" },
  "years-later": { at: "2034-07-20T16:45:00-05:00", machineOnly: true },
  "long-ago": { at: "2026-10-14T07:30:00-05:00", testsOnly: true },
};
/** Several times the duration of a whole run. */
const LONGEST_RUN_MINUTES = 20;
const RESULTS = "build/test-clock";
const LIBRARY = findLibrary("/usr/lib");
/** How many parts of the test files take turns with `--of-the-day`. */
const PARTS = 8;
const DAY = Math.floor(Date.now() / 86_400_000);
/** Folders of tests that do not depend on the clock. */
const TIMELESS = new Set(
  [
    "deploy",
    "events",
    "examples",
    "faults",
    "gen",
    "hostile",
    "http",
    "introspection",
    "mutations",
    "openapi",
    "packages",
    "proto-export",
    "protocols",
  ].concat(["reference-page", "rest", "rpc", "screening", "stubs"]),
);

const chosen = readArguments(process.argv.slice(2));
rmSync(RESULTS, { recursive: true, force: true });
mkdirSync(RESULTS, { recursive: true });
const rows = chosen.moments.map((name) => runAt(name, MOMENTS[name], chosen.options));
console.log(
  `\n| moment | clock | time zone | passed | failed |\n| --- | --- | --- | ---: | ---: |\n${rows.map(lineOf).join("\n")}`,
);
process.exitCode = rows.every(({ isSound }) => isSound) ? 0 : 1;

function readArguments(all) {
  const isOfTheDay = all.includes("--of-the-day");
  const named = all.filter((each) => Object.hasOwn(MOMENTS, each));
  const filters = all.filter((each) => each !== "--of-the-day" && !Object.hasOwn(MOMENTS, each));
  const unknown = filters.filter((each) => !each.startsWith("test/"));
  if (unknown.length > 0) {
    console.error(`Unknown moment: ${unknown.join(", ")}. The moments are ${Object.keys(MOMENTS).join(", ")}.`);
    process.exit(1);
  }
  const files = filters.length > 0 ? filters : timed();
  if (isOfTheDay) return { moments: [momentOfTheDay()], options: [partOfTheDay(), ...files] };
  return { moments: named.length > 0 ? named : Object.keys(MOMENTS), options: files };
}

/** Returns the tests that can depend on the clock. */
function timed() {
  const entries = readdirSync("test", { withFileTypes: true }).filter(({ name }) => !TIMELESS.has(name));
  return entries
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(".test.ts"))
    .map((entry) => `test/${entry.name}${entry.isDirectory() ? "/" : ""}`);
}

/** Debian installs the library in a folder named after the machine's architecture. */
function findLibrary(folder) {
  if (!existsSync(folder)) return undefined;
  const paths = ["", ...readdirSync(folder)].map((name) => join(folder, name, "faketime", "libfaketimeMT.so.1"));
  return paths.find((path) => existsSync(path));
}

function momentOfTheDay() {
  const names = Object.keys(MOMENTS);
  return names[DAY % names.length];
}

/** The next part begins when every moment has had its day. */
function partOfTheDay() {
  const part = Math.floor(DAY / Object.keys(MOMENTS).length) % PARTS;
  return `--shard=${part + 1}/${PARTS}`;
}

function runAt(name, { at, zone = "UTC", machineOnly = false, testsOnly = false }, options) {
  console.log(`\n${name}: ${at}, ${zone}${LIBRARY === undefined || testsOnly ? ", by the tests' own clock" : ""}`);
  const results = `${RESULTS}/${name}.json`;
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${results}`];
  const own = machineOnly ? {} : { TEST_CLOCK: at };
  const env = { ...process.env, TZ: zone, ...own, ...(testsOnly ? {} : machineClock(at)) };
  const { error, status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...options],
    {
      env,
      stdio: "inherit",
      timeout: LONGEST_RUN_MINUTES * 60_000,
      killSignal: "SIGKILL",
    },
  );
  const isCut = error?.code === "ETIMEDOUT";
  return { name, at, zone, isCut, isSound: status === 0, ...readResults(results) };
}

/** Sets an offset, so that processes started later have the same clock as the others. */
function machineClock(at) {
  if (LIBRARY === undefined) return {};
  const seconds = Math.round((Date.parse(at) - Date.now()) / 1_000);
  const FAKETIME = `${seconds < 0 ? "" : "+"}${seconds}s`;
  return { LD_PRELOAD: LIBRARY, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}

function lineOf({ name, at, zone, isCut, isSound, passed, failed }) {
  const beside = isSound || failed > 0 ? failed : "0, but something outside of the tests";
  const failures = isCut ? `cut after ${LONGEST_RUN_MINUTES} minutes` : beside;
  return `| ${name} | ${at} | ${zone} | ${passed} | ${failures} |`;
}
