/**
 * Measures searches for options in a tenant with 1,000,000 open slots (BENCH_OPEN_SLOTS) beside one with 10,000, as a client
 * of the internal listener in another process gets them, one after the other, and prints the plan of the statement; --out=FOLDER as in README.md:
 *
 *   npm run build && node bench/search.mjs
 */
import { randomUUID } from "node:crypto";
import { Client, escapeLiteral } from "pg";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { searchOptions } from "../dist/postgres/tables/appointments/option-search.js";
import { scopesOf } from "../dist/scopes.js";
import { servedServices } from "../dist/services/services.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { startService } from "./measured-service.mjs";
import { dateIn, openSlots } from "./open-slots.mjs";
import { publish } from "./publish.mjs";

const LARGE = Number(process.env["BENCH_OPEN_SLOTS"] || 1_000_000);
const SMALL = 10_000;
const CALLS = 400;
const DAY_MS = 86_400_000;
const SEARCH = "cupo.clinic.v1.BookingService/SearchAppointmentOptions";
const WISHES = [
  { label: "from tomorrow, a week", days: [1, 7], wish: () => ({}) },
  {
    label: "from tomorrow, a week, an hour in several slots",
    days: [1, 7],
    wish: ({ longTypeId }) => ({ appointmentTypeId: longTypeId }),
  },
  { label: "from tomorrow, 90 days, afternoons", days: [1, 89], wish: () => ({ periods: ["AFTERNOON"] }) },
  {
    label: "from tomorrow, 90 days, one practitioner",
    days: [1, 89],
    wish: ({ practitionerId }) => ({ practitionerId }),
  },
  { label: "in 60 days, a month", days: [60, 89], wish: () => ({}) },
  { label: "at night, when nobody works: none", days: [1, 89], wish: () => ({ periods: ["NIGHT"] }) },
];

const database = await openBenchDatabase(progress);
try {
  const server = await start();
  try {
    const clinics = [await fill(server.internalUrl, SMALL), await fill(server.internalUrl, LARGE)];
    await database.query("VACUUM ANALYZE");
    await database.checkpoint();
    await publish(table(clinics, await measure(clinics)));
    await explain(clinics[1]);
  } finally {
    await server.stop();
  }
} finally {
  await database.close();
}

/** In a process of its own, so that what a client costs is not counted. */
function start() {
  const { signal } = new AbortController();
  return startService({ dataDir: database.dataDir, databaseUrl: database.url, signal });
}

/** A tenant of its own, with so many open slots. */
async function fill(internalUrl, slots) {
  const tenantId = randomUUID();
  const call = await callerFor(internalUrl, tenantId);
  progress(`making ${slots} open slots`);
  const clinic = await openSlots(call, slots);
  progress(`${clinic.slots} slots were made in ${(clinic.ms / 1_000).toFixed(1)} s`);
  return { ...clinic, tenantId, call };
}

async function callerFor(internalUrl, tenantId) {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  const scopes = scopesOf(servedServices);
  const token = await issuer.sign({ tenantId, client: "bench", scopes, expiresInSeconds: 3_600 });
  return async (rpc, request) => {
    const response = await fetch(`${internalUrl}/${rpc}`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        "Idempotency-Key": randomUUID(),
      },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${rpc} was answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
}

/** The two tenants take turns, call by call, so that what else the machine does slows both. */
async function measure(clinics) {
  const measured = [];
  for (const { label, days, wish } of WISHES) {
    const times = clinics.map(() => []);
    for (let turn = 0; turn < CALLS; turn += 1) {
      for (const [i, clinic] of clinics.entries()) {
        const startedAt = performance.now();
        await clinic.call(SEARCH, { ...requestFor(clinic, days), ...wish(clinic) });
        if (turn >= CALLS / 4) times[i].push(performance.now() - startedAt);
      }
    }
    const [small, large] = times.map((all) => quantiles(all));
    measured.push({ label, small, large });
  }
  return measured;
}

function table(clinics, measured) {
  const sizes = clinics.flatMap(({ slots }) => [`${slots} slots: p50 ms`, "p99 ms"]);
  const rows = measured.map(({ label, small, large }) => {
    const ratios = large.map((ms, i) => (ms / small[i]).toFixed(2));
    return [label, ...[...small, ...large].map((ms) => ms.toFixed(1)), ...ratios];
  });
  const head = ["a page of 50 options", ...sizes, "ratio of p50", "of p99"];
  return { name: "search", title: "Searches for options", head, rows, results: { measured } };
}

function quantiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return [0.5, 0.99].map((share) => sorted[Math.floor(sorted.length * share)]);
}

function requestFor({ patientId, serviceId }, [first, last]) {
  return { patientId, serviceId, dateFrom: dateIn(first), dateTo: dateIn(last) };
}

/** As the role that row-level security binds, and with plans for any values, like the service. */
async function explain({ tenantId, patientId, serviceId }) {
  const client = new Client(database.url);
  await client.connect();
  try {
    await client.query(`SET cupo.tenant_id = '${tenantId}'; SET plan_cache_mode = force_generic_plan`);
    const from = new Date(Date.parse(`${dateIn(1)}T12:00:00Z`));
    const windows = [{ startSecond: 0, endSecond: 86_400 }];
    const wish = { patientId, serviceId, from, to: new Date(from.getTime() + 7 * DAY_MS), windows, limit: 51 };
    await searchOptions(explaining(client, tenantId), { tenantId }, wish);
  } finally {
    await client.end();
  }
}

/** A transaction that prints the plan of each statement before it runs it. */
function explaining(client, tenantId) {
  return {
    tenantId,
    send: () => undefined,
    rows: async (statement) => {
      const { sql, bindings } = statement.toSQL().toNative();
      const name = `search_${randomUUID().slice(0, 8)}`;
      await client.query(`PREPARE ${name} AS ${sql}`);
      const run = `EXECUTE ${name} (${bindings.map(literal).join(", ")})`;
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS) ${run}`);
      console.log(`\n${sql}\n${rows.map((row) => `  ${row["QUERY PLAN"]}`).join("\n")}`);
      return (await client.query(run)).rows;
    },
  };
}

function literal(value) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return escapeLiteral(`{${value.join(",")}}`);
  return escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}

function progress(text) {
  console.error(text);
}
