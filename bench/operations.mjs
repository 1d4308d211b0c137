/**
 * Calls of the service that matter most, by a client in another process, some at once, in rounds, in turns: registration, update of a
 * patient, update of a rule, reschedule, eligibility check, search for options and a replay, over REST where they are published,
 * Connect's JSON and gRPC. Prints a table in Markdown; --out=FOLDER writes it to operations.md, all rounds to operations.json and a plot
 * to operations.svg. See README.md.
 *
 *   npm run build && node bench/operations.mjs
 */
import { openBenchDatabase } from "./bench-database.mjs";
import { openCallers } from "./callers.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { prepareOperations } from "./prepare-operations.mjs";
import { publish } from "./publish.mjs";
import { waitForQuiet } from "./quiet-machine.mjs";
import { AT_ONCE, runAtOnce } from "./run-at-once.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS || 6);
const CALLS = Number(process.env.BENCH_CALLS || 200);
const { signal } = new AbortController();

const database = await openBenchDatabase(progress);
try {
  const service = await startService({ dataDir: database.dataDir, databaseUrl: database.url, signal });
  try {
    const callers = openCallers(service, await signToken(database.dataDir, signal));
    await publish(table(await measure(callers)));
  } finally {
    await service.stop();
  }
} finally {
  await database.close();
}

/** Rates and latencies by operation and protocol, of each round but the first, which warms up. */
async function measure(callers) {
  const results = {};
  const operations = await prepareOperations(callers["Connect JSON"]);
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(round === 0 ? "warming up" : `round ${round} of ${ROUNDS}`);
    await waitForQuiet(signal);
    for (const { name, rpc, isPublished, requests } of operations) {
      for (const [protocol, call] of Object.entries(callers)) {
        if (protocol === "REST" && !isPublished) continue;
        const ready = await requests(CALLS);
        const run = await runAtOnce(ready.map((request) => () => call(rpc, request.message, request.key)));
        if (round > 0) ((results[name] ??= {})[protocol] ??= []).push(run);
      }
    }
  }
  return results;
}

function table(results) {
  const middle = (runs, key) => median(runs.map((run) => run[key]));
  const measured = Object.entries(results).flatMap(([name, byProtocol]) =>
    Object.entries(byProtocol).map(([protocol, runs]) => ({ label: `${name}, ${protocol}`, runs })),
  );
  const rows = measured.map(({ label, runs }) => {
    const [rate, p50, p99] = ["rate", "p50Ms", "p99Ms"].map((key) => middle(runs, key));
    return [label, String(Math.round(rate)), p50.toFixed(1), p99.toFixed(1)];
  });
  const bars = measured.map(({ label, runs }) => ({ label, value: middle(runs, "rate") }));
  const head = [`${AT_ONCE} at once`, "a second", "p50 ms", "p99 ms"];
  return { name: "operations", title: "Calls a second", head, rows, bars, results: { results } };
}

function progress(text) {
  console.error(text);
}
