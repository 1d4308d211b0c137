/**
 * Measures how soon a service says that its database is away, and how soon it works again when that is back: where connections
 * are cut and refused, and where a network swallows everything. A registration is sent when the database goes away, one more when
 * that is answered, and then one every 20 ms from when it is back. Prints a table of the median and the longest of the rounds:
 *
 *   npm run build && node bench/outage.mjs
 *
 * BENCH_ROUNDS is how often the database goes away in each way (5).
 */
import { setTimeout as delay } from "node:timers/promises";
import { openBenchDatabase } from "./bench-database.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { openOutageProxy } from "./outage-proxy.mjs";
import { register } from "./registration.mjs";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 5);
const AWAY_MS = 3_000;
const POLL_MS = 20;
const { signal } = new AbortController();

const database = await openBenchDatabase((text) => process.stderr.write(`${text}\n`));
const proxy = await openOutageProxy(database.url);
const service = await startService({ dataDir: database.dataDir, databaseUrl: proxy.url, signal });
try {
  const token = await signToken(database.dataDir, signal);
  const send = () => register(service.baseUrl, token);
  await send();
  console.log("seconds to                              the first 503   the next 503   not ready   healed");
  await measure("connections are cut and refused", proxy.cut, send);
  await measure("everything is swallowed", proxy.swallow, send);
} finally {
  await service.stop();
  await proxy.close();
  await database.close();
}

async function measure(label, leave, send) {
  const rounds = [];
  for (let i = 0; i < ROUNDS; i += 1) rounds.push(await goAway(leave, send));
  const columns = [0, 1, 2, 3].map((column) => rounds.map((row) => row[column]));
  const cells = columns.map((all) => `${seconds(median(all))} (${seconds(Math.max(...all))})`.padStart(15));
  console.log(`${label.padEnd(36)}${cells.join("")}`);
}

async function goAway(leave, send) {
  leave();
  const unready = timeUntil(async () => (await fetch(`${service.internalUrl}/readyz`)).status === 503);
  const first = await timeUntil(() => isRefused(send));
  const next = await timeUntil(() => isRefused(send));
  const unreadyMs = await unready;
  await delay(AWAY_MS);
  proxy.pass();
  const healed = await timeUntil(async () => !(await isRefused(send)));
  return [first, next, unreadyMs, healed];
}

async function isRefused(send) {
  return send().then(
    () => false,
    (error) => {
      if (/503/.test(error.message)) return true;
      throw error;
    },
  );
}

async function timeUntil(isSo) {
  const startedAt = performance.now();
  while (!(await isSo())) await delay(POLL_MS);
  return performance.now() - startedAt;
}

function seconds(ms) {
  return (ms / 1_000).toFixed(2);
}
