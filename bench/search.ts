import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Client, escapeLiteral } from "pg";
import type { Transaction } from "../src/call.js";
import { searchOptions } from "../src/postgres/tables/appointments/option-search.js";
import { type Bench, setting } from "./bench.js";
import { type Clinic, dateIn, openClinic } from "./clinic.js";
import { percentile } from "./machine.js";
import { GOALS, type Report } from "./report.js";
import { type Call, openCallers, RPC } from "./requests.js";
import { signToken, startService } from "./service.js";

/** A tenant with a clinic. */
interface Tenant {
  readonly tenantId: string;
  readonly clinic: Clinic;
  readonly call: Call;
}

/** The times of a call in the small and the large tenant, in ms. */
interface Measured {
  readonly label: string;
  readonly small: number[];
  readonly large: number[];
}

/** A search over a range of days, counted from today. */
interface Search {
  readonly label: string;
  readonly days: readonly [number, number];
  filter?(clinic: Clinic): JsonObject;
}

const SMALL = 10_000;
const DAY_MS = 86_400_000;
const GET_LOCATION = "cupo.clinic.v1.ReferenceDataService/GetLocation";
const WEEK: Search = { label: "from tomorrow, a week", days: [1, 7] };
const EMPTY: Search = { label: "at night: none", days: [1, 89], filter: () => ({ periods: ["NIGHT"] }) };
const SEARCHES: readonly Search[] = [
  WEEK,
  {
    label: "the same, an hour in several slots",
    days: [1, 7],
    filter: ({ longTypeId }) => ({ appointmentTypeId: longTypeId }),
  },
  { label: "90 days, afternoons", days: [1, 89], filter: () => ({ periods: ["AFTERNOON"] }) },
  { label: "90 days, one practitioner", days: [1, 89], filter: ({ practitionerId }) => ({ practitionerId }) },
  { label: "in 60 days, a month", days: [60, 89] },
  EMPTY,
];

/**
 * Measures searches for options beside GetLocation, one call after the other, in a tenant with 10,000 open slots and in
 * one with 1,000,000 (`BENCH_OPEN_SLOTS`), in turns. Measures the statements of an empty search in PostgreSQL too.
 */
export async function search(bench: Bench): Promise<Report> {
  const service = await startService(bench);
  try {
    const fill = async (slots: number): Promise<Tenant> => {
      const tenantId = randomUUID();
      const call = openCallers(service, await signToken(bench.database.dataDir, tenantId))["Connect JSON"];
      bench.progress(`making ${slots} open slots`);
      return { tenantId, call, clinic: await openClinic(call, slots) };
    };
    const small = await fill(SMALL);
    const large = await fill(setting("BENCH_OPEN_SLOTS", 1_000_000));
    await bench.database.query("VACUUM ANALYZE");
    await bench.database.checkpoint();
    const measured = await measure(bench, small, large);
    return reportOf(small, large, measured, await statementsMs(bench, large));
  } finally {
    await service.stop();
  }
}

async function measure({ signal, progress }: Bench, small: Tenant, large: Tenant): Promise<Measured[]> {
  const calls = setting("BENCH_CALLS", 300);
  const measured: Measured[] = [{ label: "GetLocation", small: [], large: [] }];
  for (const { label } of SEARCHES) measured.push({ label, small: [], large: [] });
  progress("measuring");
  for (let turn = 0; turn < calls + calls / 3; turn += 1) {
    signal.throwIfAborted();
    for (const [i, times] of measured.entries()) {
      for (const [size, tenant] of Object.entries({ small, large })) {
        const startedAt = performance.now();
        await callOnce(tenant, SEARCHES[i - 1]);
        if (turn >= calls / 3) times[size === "small" ? "small" : "large"].push(performance.now() - startedAt);
      }
    }
  }
  return measured;
}

async function callOnce({ call, clinic }: Tenant, query: Search | undefined): Promise<void> {
  if (query === undefined) {
    await call(GET_LOCATION, { locationId: clinic.locationId });
    return;
  }
  const { patientId, serviceId } = clinic;
  const [first, last] = query.days;
  const request = { patientId, serviceId, dateFrom: dateIn(first), dateTo: dateIn(last) };
  await call(RPC.search, { ...request, ...query.filter?.(clinic) });
}

/** Returns how long PostgreSQL takes for the statements of an empty search, under row-level security. In milliseconds. */
async function statementsMs({ database }: Bench, { tenantId, clinic }: Tenant): Promise<number> {
  const client = new Client(database.url);
  await client.connect();
  try {
    await client.query(`SET cupo.tenant_id = '${tenantId}'; SET plan_cache_mode = force_generic_plan`);
    const from = new Date(Date.parse(`${dateIn(1)}T12:00:00Z`));
    const plans: number[] = [];
    const { patientId, serviceId } = clinic;
    const principal = { tenantId, organizationId: undefined, companyId: undefined };
    await searchOptions(explaining(client, tenantId, plans), principal as Parameters<typeof searchOptions>[1], {
      patientId,
      serviceId,
      now: new Date(),
      from,
      to: new Date(from.getTime() + 89 * DAY_MS),
      windows: [{ startSecond: 0, endSecond: 3_600 }],
      limit: 51,
      appointmentId: undefined,
      heldDay: undefined,
      minutes: undefined,
      visitMinutes: undefined,
      locationId: undefined,
      practitionerId: undefined,
      includeEmergency: false,
      after: undefined,
    });
    return plans.reduce((sum, ms) => sum + ms, 0);
  } finally {
    await client.end();
  }
}

/** Returns a transaction that runs each statement and adds the time that PostgreSQL states for its second execution. */
function explaining(client: Client, tenantId: string, times: number[]): Transaction {
  const rows: Transaction["rows"] = async (statement) => {
    const { sql, bindings } = statement.toSQL().toNative();
    const name = `search_${randomUUID().slice(0, 8)}`;
    await client.query(`PREPARE ${name} AS ${sql}`);
    const run = `EXECUTE ${name} (${bindings.map(literal).join(", ")})`;
    const { rows: found } = await client.query(run);
    const { rows: lines } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${run}`);
    times.push(lines[0]["QUERY PLAN"][0]["Execution Time"]);
    return found;
  };
  return { tenantId, rows, send: () => undefined } as unknown as Transaction;
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return escapeLiteral(`{${value.join(",")}}`);
  if (value instanceof Date) return escapeLiteral(value.toISOString());
  if (typeof value === "string") return escapeLiteral(value);
  throw new Error(`a search has a value of type ${typeof value}`);
}

function reportOf(small: Tenant, large: Tenant, measured: readonly Measured[], emptyMs: number): Report {
  const p50 = (times: readonly number[]) => percentile(times, 0.5);
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const rows = measured.map(({ label, small: few, large: many }) => [
    label,
    ...[p50(few), p99(few), p50(many), p99(many)].map((ms) => ms.toFixed(1)),
    (p50(many) / p50(few)).toFixed(2),
  ]);
  const timesOf = (label: string) => measured.find((each) => each.label === label)?.large ?? [];
  const location = timesOf("GetLocation");
  const spread = (times: readonly number[]) => p99(times) / p50(times);
  const growth = Math.max(...measured.slice(1).map((each) => p50(each.large) / p50(each.small)));
  const goals = [
    { goal: GOALS.search, value: p50(timesOf(WEEK.label)) / p50(location) },
    { goal: GOALS.emptySearch, value: p50(timesOf(EMPTY.label)) / p50(location) },
    { goal: GOALS.searchSpread, value: spread(timesOf(WEEK.label)) / spread(location) },
    { goal: GOALS.emptySearchStatements, value: emptyMs },
    { goal: GOALS.growth, value: growth },
  ];
  const sizes = [small, large].flatMap(({ clinic }) => [`${clinic.slots} slots: p50 ms`, "p99 ms"]);
  const notes = [`The jobs made ${large.clinic.slots} slots in ${(large.clinic.slotsMs / 1_000).toFixed(0)} s.`];
  return { head: ["a page of 50 options", ...sizes, "ratio of p50"], rows, goals, notes, measured };
}
