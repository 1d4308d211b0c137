/**
 * Measures what one greedy tenant takes from another: how long the other's registrations take, fifty a second whether those
 * before were answered or not, while the first is greedy in one way after the other with all that a client's quota has, and how many
 * of them fail. Limits are those of a service that is not told otherwise; each way has a client of its own, whose minute is full, and the
 * other tenant ten, so that it is never at its limit itself. Prints a table, and how the worst compares with what the other has when nobody is greedy, measured before and behind:
 *
 *   npm run build && node bench/greedy.mjs
 *
 * BENCH_SECONDS is how long each row takes (12, which is 600 registrations, so that p99 is no maximum), BENCH_ONLY a part of
 * the names of those to measure.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { scopesOf } from "../dist/scopes.js";
import { servedServices } from "../dist/services/services.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { callerOf } from "./greedy-caller.mjs";
import { countSlotsWhenMade, idIn, openGreedyClinic, ruleOf } from "./greedy-clinic.mjs";
import { registration } from "./greedy-requests.mjs";
import { startGreed, waysOf } from "./greedy-sender.mjs";
import { startService } from "./measured-service.mjs";
import { registerSteadily } from "./register-steadily.mjs";

const SECONDS = Number(process.env["BENCH_SECONDS"] || 12);
const ONLY = process.env["BENCH_ONLY"] ?? "";
const PER_SECOND = 50;
const PATIENTS = 250;
const QUIET = "nothing";
const CLIENTS = 10;
const DEFAULTS = {
  RATE_LIMIT_PER_MINUTE: "",
  RATE_LIMIT_PER_SECOND: "",
  CALLS_PER_PRINCIPAL: "",
  CALLS_PER_TENANT: "",
  HEAVY_CALLS: "",
  HEAVY_CALLS_PER_TENANT: "",
};
const SCHEDULE = "cupo.clinic.v1.ProgramService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";

const { signal } = new AbortController();
const rows = [];
const database = await openBenchDatabase(progress);
try {
  const { dataDir, url: databaseUrl } = database;
  const service = await startService({ dataDir, databaseUrl, signal, settings: DEFAULTS });
  try {
    const greedyTenant = randomUUID();
    const [greedy, victim] = [await callersFor(service, greedyTenant), await callersFor(service, randomUUID())];
    progress("making the schedule and the patients of the greedy tenant");
    const clinic = await openGreedyClinic(greedy.ask);
    for (let i = 0; i < PATIENTS; i += 1) await greedy.rest("POST", "/patients", registration());
    await measureAll({ greedy, victim, clinic, greedyAccess: () => accessFor(service, greedyTenant) });
    printWorst();
  } finally {
    await service.stop();
  }
} finally {
  await database.close();
}

async function measureAll({ greedy, victim, clinic, greedyAccess }) {
  console.log(
    "the greedy tenant sends, the other registers patients   p50 ms   p99 ms  answers  none/5xx  429   the greedy one's answers",
  );
  await measure(QUIET, victim);
  for (const way of waysOf(clinic)) {
    if (!way.includes(ONLY)) continue;
    const stop = await startGreed({ access: await greedyAccess(), clinic, way });
    await measure(way, victim, { stop });
  }
  if (ONLY === "") await measureBackground(greedy, victim, clinic);
  await measure(QUIET, victim);
}

/** A program of ever more slots, made in the background: what becomes of the other's own, and of switching it off. */
async function measureBackground(greedy, victim, clinic) {
  const { programId } = clinic;
  const day = { startsAtLocal: "00:00:00", endsAtLocal: "23:59:59", weekdays: [4, 5, 6], slotDurationMinutes: 1 };
  const wide = await greedy.ask(`${SCHEDULE}/CreateProgramRule`, { programId, ...ruleOf(1), ...day });
  const rule = wide.status === 200 ? { id: idIn(wide.body), version: 1 } : { id: clinic.ruleId, version: 1 };
  const change = { programId, ruleId: rule.id, expectedVersion: rule.version, slotDurationMinutes: 11 };
  if (wide.status !== 200) await greedy.rpc(`${CONFIGURATION}/UpdateProgramRule`, change);
  const millions = wide.status === 200 ? "5.6 million slots" : "as many slots as may be (5.6 million were refused)";
  progress(`the greedy tenant has ${millions} made`);
  await measure("a schedule that is made in the background", victim);
  const small = await openGreedyClinic(victim.ask, { staff: 20, isWaitedFor: false });
  const until = async () => {
    const startedAt = performance.now();
    await Promise.race([countSlotsWhenMade(victim.ask, small.programId), delay(20_000)]);
    return `made after ${since(startedAt)}`;
  };
  await measure("the same, and the other has one of 37,440 slots made", victim, { until });
  const startedAt = performance.now();
  const expectedVersion = wide.status === 200 ? 1 : 2;
  const off = { programId, ruleId: rule.id, active: false, expectedVersion };
  let tries = 0;
  let status = 0;
  while (status !== 200 && tries < 10) {
    tries += 1;
    ({ status } = await greedy.ask(`${CONFIGURATION}/UpdateProgramRule`, off));
  }
  console.log(`its rule was ${status === 200 ? "" : "not "}switched off after ${since(startedAt)}, ${tries} tries`);
}

/** Prints the other's answers until they are enough; then `stop` ends the greed. `until` can say something more. */
async function measure(label, victim, { stop = async () => new Map(), until = async () => "" } = {}) {
  const said = until();
  const answers = await registerSteadily(victim, { seconds: SECONDS, perSecond: PER_SECOND });
  const note = await said;
  const statuses = await stop();
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const count = (isCounted) => answers.filter(({ status }) => isCounted(status)).length;
  const [failed, refused] = [count((status) => status === 0 || status >= 500), count((status) => status === 429)];
  rows.push({ label, p99: at(0.99), failed: failed + refused });
  const figures = [at(0.5).toFixed(0), at(0.99).toFixed(0), times.length, failed, refused];
  const others = [...statuses].map(([status, many]) => `${many} × ${status}`).join(", ");
  const widths = [9, 9, 9, 10, 5];
  console.log(`${label.padEnd(54)}${figures.map((f, i) => String(f).padStart(widths[i])).join("")}   ${others}${note}`);
}

/** Of the quiet rows the slower one counts, which is what the machine does by itself. */
function printWorst() {
  const greedy = rows.filter(({ label }) => label !== QUIET);
  const quiet = Math.max(...rows.filter(({ label }) => label === QUIET).map(({ p99 }) => p99));
  const times = ({ p99 }) => (p99 / quiet).toFixed(2);
  const over = greedy.filter(({ p99 }) => p99 >= 2 * quiet).map((row) => `${row.label} (${times(row)})`);
  const failed = greedy.reduce((sum, row) => sum + row.failed, 0);
  console.log(
    `${greedy.length} rows against a quiet p99 of ${quiet.toFixed(0)} ms: ${failed} failed or refused; twice as slow`,
  );
  console.log(over.length === 0 ? "or slower: none" : `or slower: ${over.join(", ")}`);
}

/** Ten clients of a tenant, who send in turn. */
async function callersFor(service, tenantId) {
  const callers = [];
  for (let i = 0; i < CLIENTS; i += 1) callers.push(callerOf(await accessFor(service, tenantId)));
  let turn = 0;
  const next = () => callers[turn++ % CLIENTS];
  return {
    ask: (...request) => next().ask(...request),
    rpc: (...request) => next().rpc(...request),
    rest: (...request) => next().rest(...request),
  };
}

/** The access of a client that has not sent anything yet. */
async function accessFor({ baseUrl, internalUrl }, tenantId) {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  const scopes = scopesOf(servedServices);
  const token = await issuer.sign({ tenantId, client: randomUUID(), scopes, expiresInSeconds: 3_600 });
  return { baseUrl, internalUrl, token };
}

function since(startedAt) {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}

function progress(text) {
  process.stderr.write(`${text}\n`);
}
