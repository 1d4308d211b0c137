/**
 * This version beside another one, which is built in a checkout of its own, on one database that this version migrated, in rounds, in
 * turns: what a change brings or costs registrations, updates of a rule, reschedules and searches for options. Each round has new
 * processes, because one process of the same version can be a tenth faster than another. Prints a table in Markdown; --out=FOLDER as in
 * README.md.
 *
 *   npm run build && node bench/versions.mjs ../other-checkout
 *
 * BENCH_ROUNDS (6) as everywhere; BENCH_SECONDS (4) of registrations and BENCH_CALLS (200) of each other operation a round, with half
 * as many ahead of them to warm up; BENCH_KINDS which of registration, rule, reschedule and search are measured. Needs wrk.
 */
import { resolve } from "node:path";
import { openBenchDatabase } from "./bench-database.mjs";
import { openCallers } from "./callers.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { prepareOperations } from "./prepare-operations.mjs";
import { processorSeconds } from "./processor-seconds.mjs";
import { publish } from "./publish.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { runAtOnce } from "./run-at-once.mjs";
import { requirePrograms } from "./run-program.mjs";
import { runWrk } from "./run-wrk.mjs";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 6);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 4);
const CALLS = Number(process.env["BENCH_CALLS"] || 200);
const OPERATIONS = { rule: "PATCH of a rule", reschedule: "reschedule", search: "search for options" };
const KINDS = (process.env["BENCH_KINDS"] || "registration,rule,reschedule,search").split(",");
const OTHER = process.argv.slice(2).find((argument) => !argument.startsWith("--"));
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
if (OTHER === undefined) throw new Error("the folder of the other version is missing");
const database = await openBenchDatabase(progress);
/** This version and the other, as they run in the round. */
const running = [];
let registrationRuns = 0;
try {
  await publish(table(await inRounds(await signToken(database.dataDir, signal))));
} finally {
  await stopAll();
  await database.close();
}

/** What each did in the rounds, by operation. */
async function inRounds(token) {
  let ways;
  const results = {};
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`round ${round} of ${ROUNDS}`);
    await startBoth(token);
    ways ??= await waysToMeasure(token);
    await inTurns(ways, round, 0.5);
    for (const [name, { own, other }] of Object.entries(await inTurns(ways, round, 1))) {
      const both = (results[name] ??= { own: [], other: [] });
      both.own.push(own);
      both.other.push(other);
    }
    await stopAll();
  }
  return results;
}

async function startBoth(token) {
  const { dataDir, url: databaseUrl } = database;
  for (const folder of [undefined, resolve(OTHER)]) {
    const service = await startService({ dataDir, databaseUrl, signal, folder });
    running.push({ ...service, call: openCallers(service, token)["Connect JSON"] });
  }
}

async function stopAll() {
  for (const { stop } of running.splice(0)) await stop();
}

/** What each does of every operation; each of them goes first in every second round. */
async function inTurns(ways, round, share) {
  const results = {};
  for (const [name, way] of Object.entries(ways)) {
    const turns = Object.entries({ own: running[0], other: running[1] });
    results[name] = {};
    for (const [version, service] of round % 2 === 0 ? turns : turns.toReversed()) {
      await waitForQuiet(signal);
      const { calls, seconds, used } = await way(service, share);
      results[name][version] = { rate: calls / seconds, usOfACall: (used / calls) * 1e6 };
    }
  }
  return results;
}

/** By operation: makes a share of the calls of a service, and gives how many they were, how long they took, and its processor time. */
async function waysToMeasure(token) {
  let turn = 0;
  const prepared = await prepareOperations((...request) => running[turn++ % 2].call(...request));
  const ways = KINDS.filter((kind) => kind in OPERATIONS).map((kind) => {
    const { name, rpc, requests } = prepared.find((operation) => operation.name === OPERATIONS[kind]);
    return [name, (service, share) => makeCalls(service, rpc, requests, CALLS * share)];
  });
  const register = (service, share) => makeRegistrations(service, token, SECONDS * share);
  return Object.fromEntries([...(KINDS.includes("registration") ? [["POST /patients", register]] : []), ...ways]);
}

async function makeRegistrations({ baseUrl, pid }, token, seconds) {
  const before = processorSeconds(pid);
  const { completed, rate } = await runWrk({ baseUrl, token, run: ++registrationRuns, seconds, signal });
  return { calls: completed, seconds: completed / rate, used: processorSeconds(pid) - before };
}

/** Some can be prepared in smaller numbers only: they are prepared and made as often as it takes. */
async function makeCalls({ call, pid }, rpc, requests, count) {
  const sum = { calls: 0, seconds: 0, used: 0 };
  while (sum.calls < count) {
    const ready = await requests(count - sum.calls);
    const before = processorSeconds(pid);
    const { rate } = await runAtOnce(
      ready.map(
        ({ message }) =>
          () =>
            call(rpc, message),
      ),
    );
    sum.used += processorSeconds(pid) - before;
    sum.calls += ready.length;
    sum.seconds += ready.length / rate;
  }
  return sum;
}

function table(results) {
  const ratio = ({ own, other }, key) => median(own.map((run, round) => run[key] / other[round][key])).toFixed(2);
  const of = (runs, key) => median(runs.map((run) => run[key])).toFixed(0);
  const rows = Object.entries(results).flatMap(([name, both]) =>
    [
      [`${name}, calls a second`, "rate"],
      [`${name}, µs of the service's processor time`, "usOfACall"],
    ].map(([label, key]) => [label, of(both.own, key), of(both.other, key), ratio(both, key)]),
  );
  const head = ["", "this version", "the other", "ratio, median of rounds"];
  return { name: "versions", title: "Two versions", head, rows, results: { results } };
}

function progress(text) {
  console.error(text);
}
