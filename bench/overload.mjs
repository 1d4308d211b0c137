/**
 * Measures what becomes of a service that is asked for more than it can do: patients are registered by a hundred tenants over as many
 * connections as it is fastest with, and over five times as many, in turns, and then over twenty-five times as many, each of which asks
 * again as soon as it is answered; ten more tenants register two a second each meanwhile, whether those before were answered or not, which is less than an equal part of
 * what the service can do. Quotas are too high to be reached, and limits of calls at work are those of a service that is not told otherwise.
 * Prints a table, and what part of the rate is left of five times as many:
 *
 *   npm run build && node bench/overload.mjs
 *
 * BENCH_ROUNDS is how many turns there are (3), BENCH_SECONDS how long each row takes (10). Needs wrk.
 */
import { join } from "node:path";
import { openBenchDatabase } from "./bench-database.mjs";
import { callerOf } from "./greedy-caller.mjs";
import { startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { registerSteadily } from "./register-steadily.mjs";
import { runCrowd, signForNewTenant, writeTokens } from "./run-crowd.mjs";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 3);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 10);
const TENANTS = 100;
const ENOUGH = 32;
const TURN = [1, 5];
const TIMES = [...Array.from({ length: ROUNDS }, () => TURN).flat(), 25, 1];
const OTHERS = 10;
const PER_SECOND = 20;
/** As of a service that is not told otherwise. */
const LIMITS = { CALLS_PER_PRINCIPAL: "", CALLS_PER_TENANT: "", HEAVY_CALLS: "", HEAVY_CALLS_PER_TENANT: "" };
const { signal } = new AbortController();

const database = await openBenchDatabase((text) => process.stderr.write(`${text}\n`));
const tokens = join(database.dataDir, "tokens");
try {
  const { dataDir, url: databaseUrl } = database;
  const service = await startService({ dataDir, databaseUrl, signal, settings: LIMITS });
  try {
    await writeTokens(dataDir, TENANTS, tokens);
    const other = await inTurn(service);
    await row(service, other, { label: "warm-up", connections: ENOUGH, run: 1 });
    console.log(
      "connections     201/s   429/s   503/s  other  none  p50 ms  p99 ms   the other tenants: p50 ms  p99 ms  not 201",
    );
    const served = new Map(TIMES.map((times) => [times, []]));
    for (const [run, times] of TIMES.entries()) {
      const connections = ENOUGH * times;
      const measured = await row(service, other, { label: connections, connections, run: run + 2 });
      served.get(times).push(measured.served);
      console.log(measured.line);
    }
    const [one, five] = TURN.map((times) => median(served.get(times)));
    console.log(`five times as many, of the rate of ${ENOUGH}: ${((100 * five) / one).toFixed(0)} % (medians)`);
  } finally {
    await service.stop();
  }
} finally {
  await database.close();
}

/** The other tenants, one after the other. */
async function inTurn(service) {
  const callers = await Promise.all(
    Array.from({ length: OTHERS }, async () =>
      callerOf({ ...service, token: await signForNewTenant(database.dataDir) }),
    ),
  );
  let asked = 0;
  return { rest: (...request) => callers[asked++ % OTHERS].rest(...request) };
}

async function row(service, other, { label, connections, run }) {
  const [result, answers] = await Promise.all([
    runCrowd({ baseUrl: service.baseUrl, tokens, connections, run, seconds: SECONDS, signal }),
    registerSteadily(other, { seconds: SECONDS, perSecond: PER_SECOND }),
  ]);
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0);
  const rate = (count) => (count / result.seconds).toFixed(0);
  const failed = answers.filter(({ status }) => status !== 201).length;
  const { served, limited, unavailable, others, broken, p50Ms, p99Ms } = result;
  const cells = [rate(served), rate(limited), rate(unavailable), others, broken, p50Ms.toFixed(0), p99Ms.toFixed(0)];
  const widths = [10, 8, 8, 7, 6, 8, 8];
  const all = cells.map((cell, i) => String(cell).padStart(widths[i])).join("");
  const line = `${String(label).padEnd(11)}${all}${at(0.5).padStart(28)}${at(0.99).padStart(8)}${String(failed).padStart(9)}`;
  return { line, served: served / result.seconds };
}
