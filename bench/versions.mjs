/**
 * Registrations a second of this version beside another one, which is built in a checkout of its own, on one database that this
 * version migrated, in rounds, in turns: what a change brings or costs. Prints a table in Markdown; --out=FOLDER as in README.md.
 *
 *   npm run build && node bench/versions.mjs ../other-checkout
 *
 * BENCH_ROUNDS (6) and BENCH_SECONDS (4) as everywhere. Needs wrk.
 */
import { resolve } from "node:path";
import { openBenchDatabase } from "./bench-database.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { processorSeconds } from "./processor-seconds.mjs";
import { publish } from "./publish.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { requirePrograms } from "./run-program.mjs";
import { runWrk } from "./run-wrk.mjs";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 6);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 4);
const OTHER = process.argv.slice(2).find((argument) => !argument.startsWith("--"));
const { signal } = new AbortController();

requirePrograms({ wrk: "wrk" });
if (OTHER === undefined) throw new Error("the folder of the other version is missing");
const database = await openBenchDatabase(progress);
const running = [];
try {
  const { dataDir, url: databaseUrl } = database;
  const terms = { dataDir, databaseUrl, signal };
  running.push(await startService(terms), await startService({ ...terms, folder: resolve(OTHER) }));
  await publish(table(await inTurns(await signToken(dataDir, signal))));
} finally {
  for (const { stop } of running) await stop();
  await database.close();
}

/** What each did in the rounds, but for the first, which warms up. */
async function inTurns(token) {
  const runs = running.map(() => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(round === 0 ? "warming up" : `round ${round} of ${ROUNDS}`);
    for (const [i, { baseUrl, pid }] of running.entries()) {
      await waitForQuiet(signal);
      const before = processorSeconds(pid);
      const { rate, completed } = await runWrk({ baseUrl, token, run: round * 2 + i + 1, seconds: SECONDS, signal });
      const usOfARequest = ((processorSeconds(pid) - before) / completed) * 1e6;
      if (round > 0) runs[i].push({ rate, usOfARequest });
    }
  }
  return { own: runs[0], other: runs[1] };
}

function table({ own, other }) {
  const ratio = (key) => median(own.map((run, round) => run[key] / other[round][key])).toFixed(2);
  const of = (runs, key) => median(runs.map((run) => run[key])).toFixed(0);
  const rows = [
    ["registrations a second", "rate"],
    ["µs of the service's processor time for each", "usOfARequest"],
  ].map(([label, key]) => [label, of(own, key), of(other, key), ratio(key)]);
  const head = ["", "this version", "the other", "ratio, median of rounds"];
  return { name: "versions", title: "Two versions", head, rows, results: { own, other } };
}

function progress(text) {
  console.error(text);
}
