/**
 * What it costs that replicas share quotas (RATE_LIMIT_STORE=postgres, REPLICAS=3): registrations a second of one principal, whose
 * process takes parts of a quota that is never used up, and the time of the first request of a principal, which has to ask;
 * each beside a process that counts in memory, in turns:
 *
 *   npm run build && node bench/quotas.mjs
 */

import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { startService } from "./measured-service.mjs";
import { median } from "./median.mjs";
import { register, TENANT_ID } from "./registration.mjs";
import { runWrk } from "./run-wrk.mjs";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] || 6);
const SECONDS = Number(process.env["BENCH_SECONDS"] || 5);
const STRANGERS = 400;
const STORES = ["memory", "postgres"];

const { signal } = new AbortController();
const database = await openBenchDatabase((text) => console.error(text));
const services = [];
try {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  for (const store of STORES) services.push(await start(store));
  const rates = await inTurns(ROUNDS, (service, round) => rateOf(service, issuer, round));
  const firstMs = await inTurns(STRANGERS, (service, round) => timeOfFirst(service, issuer, round));
  report("registrations a second of one principal", rates);
  report("the first registration of a principal, ms", firstMs);
} finally {
  for (const service of services) await service.stop();
  await database.close();
}

function start(store) {
  const settings = { RATE_LIMIT_STORE: store, REPLICAS: "3", MIGRATION_DATABASE_URL: database.ownerUrl };
  return startService({ dataDir: database.dataDir, databaseUrl: database.url, signal, settings });
}

/** Results of each store by its name, but for those of the first round, which warms up. */
async function inTurns(rounds, measure) {
  const results = Object.fromEntries(STORES.map((store) => [store, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, store] of STORES.entries()) {
      const result = await measure(services[index], round * STORES.length + index + 1);
      if (round > 0) results[store].push(result);
    }
  }
  return results;
}

async function rateOf({ baseUrl }, issuer, run) {
  const token = await tokenOf(issuer, "bench");
  await database.checkpoint();
  return (await runWrk({ baseUrl, token, run, seconds: SECONDS, signal })).rate;
}

async function timeOfFirst({ baseUrl }, issuer, number) {
  const token = await tokenOf(issuer, `stranger-${number}`);
  const begunAt = performance.now();
  await register(baseUrl, token);
  return performance.now() - begunAt;
}

function tokenOf(issuer, client) {
  return issuer.sign({ tenantId: TENANT_ID, client, scopes: ["patients:write"], expiresInSeconds: 3_600 });
}

function report(what, results) {
  const [memory, postgres] = STORES.map((store) => median(results[store]));
  const figures = `memory ${memory.toFixed(2)}, postgres ${postgres.toFixed(2)}, ratio ${(postgres / memory).toFixed(3)}`;
  console.log(`${what} (median of ${results.memory.length}): ${figures}`);
}
