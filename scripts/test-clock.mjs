/**
 * Runs the tests at moments at which clocks and calendars are awkward, and ends with a Markdown table of what came of each.
 * The tests' own clock is moved there (TEST_CLOCK, see test/support/clock.ts) and, where Debian's libfaketime is installed,
 * that of the machine for the tests and the processes of the service that they start. PostgreSQL keeps the clock that it
 * has, which nothing depends on: under libfaketime, which shows the true time to a signal handler, its timeouts never come.
 *
 *     npm run test:clock [-- MOMENT... [--of-the-day] [FILTER...]]
 *
 * Runs the part of the suite that can hang on the clock, unless filters name another: what is about bytes, about other programs
 * (browsers, compilers, poolers, clients of other languages) and about faults is as it is at any moment, and those programs
 * do not all bear a clock that is moved. Without a moment it goes through all of them; `--of-the-day` takes one that is another each day of the year. A filter, the
 * beginning of a path such as test/schedule, narrows the tests. Ends with 1 where a test failed, something failed outside of tests, or a run took too long
 * and was cut, which the table says.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readResults } from "./test-results.mjs";

/**
 * Instants, and the time zone of the machine where it is not UTC. `machineOnly` leaves the tests' own clock as it is, `testsOnly` the
 * machine's, so that it and PostgreSQL's are further ahead of what the tests say than anything is kept.
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
/** Several times what a whole run takes. */
const LONGEST_RUN_MINUTES = 20;
const RESULTS = "build/test-clock";
const LIBRARY = findLibrary("/usr/lib");
/** The folders of tests that do not hang on the clock. */
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
    "openapi",
    "proto-export",
    "protocols",
  ].concat(["reference-page", "rest", "rpc", "screening", "stubs"]),
);

const chosen = readArguments(process.argv.slice(2));
rmSync(RESULTS, { recursive: true, force: true });
mkdirSync(RESULTS, { recursive: true });
const rows = chosen.moments.map((name) => runAt(name, MOMENTS[name], chosen.filters));
console.log(
  `\n| moment | clock | time zone | passed | failed |\n| --- | --- | --- | ---: | ---: |\n${rows.map(lineOf).join("\n")}`,
);
process.exitCode = rows.every(({ isSound }) => isSound) ? 0 : 1;

function readArguments(all) {
  const named = all.filter((each) => Object.hasOwn(MOMENTS, each));
  if (all.includes("--of-the-day")) named.push(momentOfTheDay());
  const filters = all.filter((each) => each !== "--of-the-day" && !Object.hasOwn(MOMENTS, each));
  const unknown = filters.filter((each) => !each.startsWith("test/"));
  if (unknown.length > 0) {
    console.error(`There is no moment ${unknown.join(", ")}, but ${Object.keys(MOMENTS).join(", ")}.`);
    process.exit(1);
  }
  return { moments: named.length > 0 ? named : Object.keys(MOMENTS), filters: filters.length > 0 ? filters : timed() };
}

/** Everything in the folder of tests but what does not hang on the clock. */
function timed() {
  const entries = readdirSync("test", { withFileTypes: true }).filter(({ name }) => !TIMELESS.has(name));
  return entries
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(".test.ts"))
    .map((entry) => `test/${entry.name}${entry.isDirectory() ? "/" : ""}`);
}

/** Debian has it in the folder of the machine's architecture. */
function findLibrary(folder) {
  if (!existsSync(folder)) return undefined;
  const paths = ["", ...readdirSync(folder)].map((name) => join(folder, name, "faketime", "libfaketimeMT.so.1"));
  return paths.find((path) => existsSync(path));
}

function momentOfTheDay() {
  const names = Object.keys(MOMENTS);
  return names[Math.floor(Date.now() / 86_400_000) % names.length];
}

function runAt(name, { at, zone = "UTC", machineOnly = false, testsOnly = false }, filters) {
  console.log(`\n${name}: ${at}, ${zone}${LIBRARY === undefined || testsOnly ? ", by the tests' own clock" : ""}`);
  const results = `${RESULTS}/${name}.json`;
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${results}`];
  const own = machineOnly ? {} : { TEST_CLOCK: at };
  const env = { ...process.env, TZ: zone, ...own, ...(testsOnly ? {} : machineClock(at)) };
  const { error, status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...filters],
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

/** An offset, so that processes that are started later go on where the others are. */
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
