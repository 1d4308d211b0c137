import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDevelopmentKey } from "../src/auth/development-key.js";
import { type Bench, type BenchDatabase, rowsOf, setting } from "./bench.js";
import { allCreated, CONNECTIONS, type LoadResult, registrations, runRegistrations } from "./load.js";
import { inTurn, median, medianOf, ratioOfRounds, waitForQuiet, watchMemory } from "./machine.js";
import { type Figure, GOALS, type Report } from "./report.js";
import { RPC } from "./requests.js";
import { signToken, startPeer, startService } from "./service.js";
import { type Flight, startStatementTap } from "./statement-tap.js";

/** Tables with the rows that one registration adds. */
type RowsByTable = ReadonlyMap<string, number>;

/** A service that registers patients. */
interface Contestant {
  readonly label: string;
  readonly url: string;
  readonly tables: RowsByTable;
  readonly runs: LoadResult[];
}

type ContestantName = "rest" | "connect" | "raw" | "sameRows" | "fourRows";

const STARTS = 5;
/** The first ones prepare their statements. */
const RECORDED_REGISTRATIONS = 3;
const FOUR_TABLES = ["idempotency_keys", "patients", "patient_consents", "audit_events"];

/**
 * Measures registrations over REST and Connect JSON. It compares them with a raw ceiling and with an idiomatic service
 * that writes the same rows, or only four. All take turns on one database. Then it measures the start and the memory of
 * the service. Rejects if an answer is not 201, or if a table does not grow by the rows of the registrations.
 */
export async function creation(bench: Bench): Promise<Report> {
  const token = await signToken(bench.database.dataDir);
  bench.progress("recording the statements of a registration");
  const { flights, tables } = await recordRegistration(bench, token);
  bench.progress("measuring the start");
  const start = await measureStart(bench, token);
  const statements = await writeStatements(bench.database, flights);
  const running: { stop(): Promise<void> }[] = [];
  try {
    const service = await startService(bench);
    running.push(service);
    const { publicJwk } = await openDevelopmentKey(bench.database.dataDir);
    const peer = { DATABASE_URL: bench.database.url, JWK: JSON.stringify(publicJwk), RECORDED: statements };
    const raw = await startPeer("raw-peer", peer);
    running.push(raw);
    const sameRows = await startPeer("fastify-peer", peer);
    running.push(sameRows);
    const fourRows = await startPeer("fastify-peer", { ...peer, FOUR_ROWS: "1" });
    running.push(fourRows);
    const patients = (url: string) => `${url}/patients`;
    const fourTables = new Map(FOUR_TABLES.map((table) => [table, 1]));
    const contestants: Record<ContestantName, Contestant> = {
      rest: { label: "the service, REST", url: patients(service.baseUrl), tables, runs: [] },
      connect: { label: "the service, Connect JSON", url: `${service.internalUrl}/${RPC.register}`, tables, runs: [] },
      raw: { label: "the raw ceiling", url: patients(raw.baseUrl), tables, runs: [] },
      sameRows: { label: "an idiomatic service, same rows", url: patients(sameRows.baseUrl), tables, runs: [] },
      fourRows: {
        label: "an idiomatic service, 4 rows",
        url: patients(fourRows.baseUrl),
        tables: fourTables,
        runs: [],
      },
    };
    const memory = watchMemory(service.pid);
    const busyShare = await runRounds(bench, token, Object.values(contestants)).finally(memory.stop);
    return reportOf({ contestants, flights, start, memoryMb: memory.stop(), busyShare });
  } finally {
    for (const { stop } of running.toReversed()) await stop();
  }
}

/** Returns the flights of a registration and the rows that it adds to each table. */
async function recordRegistration(
  { database, signal }: Bench,
  token: string,
): Promise<{ flights: readonly Flight[]; tables: RowsByTable }> {
  const tap = await startStatementTap(database.url);
  let flights: readonly Flight[] = [];
  try {
    const service = await startService({ database: { dataDir: database.dataDir, url: tap.url }, signal });
    try {
      const register = registrations(`${service.baseUrl}/patients`, [token]);
      for (let i = 0; i < RECORDED_REGISTRATIONS; i += 1) {
        tap.takeFlights();
        await register();
        flights = tap.takeFlights().map(withoutNotifications).find(isTransaction) ?? [];
      }
    } finally {
      await service.stop();
    }
  } finally {
    await tap.close();
  }
  const names = flights.flat().flatMap(({ sql }) => insertedInto(sql));
  if (names.length === 0) throw new Error("the recorded statements of a registration are no transaction with inserts");
  const rows = await rowsOf(database, [...new Set(names)]);
  return { flights, tables: new Map(Array.from(rows, ([name, count]) => [name, count / RECORDED_REGISTRATIONS])) };
}

function insertedInto(sql: string): string[] {
  return Array.from(sql.matchAll(/\binsert into "(\w+)"/g), ([, table = ""]) => table);
}

/** Removes the notifications, because many calls share one and no call waits for it. */
function withoutNotifications(flights: readonly Flight[]): Flight[] {
  return flights.filter((flight) => !flight.some(({ sql }) => sql.includes("pg_notify")));
}

function isTransaction(flights: readonly Flight[]): boolean {
  const statements = flights.flat();
  return statements.at(0)?.sql.startsWith("BEGIN") === true && statements.at(-1)?.sql === "COMMIT";
}

/** Writes the recorded statements to a file for the raw ceiling and returns its path. Binary values become their length. */
async function writeStatements({ dataDir }: BenchDatabase, flights: readonly Flight[]): Promise<string> {
  const file = join(dataDir, "statements.json");
  const statements = flights.flat().map(({ sql, values }) => ({
    sql,
    values: values.map((value) => (Buffer.isBuffer(value) ? { bytes: value.length } : value)),
  }));
  await writeFile(file, JSON.stringify(statements));
  return file;
}

/** Returns the medians in ms from the start of the process until it listens, and until the first 201. */
async function measureStart(bench: Bench, token: string): Promise<{ listeningMs: number; answeredMs: number }> {
  const listening: number[] = [];
  const answered: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const service = await startService(bench);
    try {
      listening.push(performance.now() - service.startedAt);
      const status = await registrations(`${service.baseUrl}/patients`, [token])();
      if (status !== 201) throw new Error(`the first registration was answered ${status}`);
      answered.push(performance.now() - service.startedAt);
    } finally {
      await service.stop();
    }
  }
  return { listeningMs: median(listening), answeredMs: median(answered) };
}

/** Returns the largest share of the processors that other programs used before a run. */
async function runRounds(bench: Bench, token: string, contestants: readonly Contestant[]): Promise<number> {
  const rounds = setting("BENCH_ROUNDS", 6);
  const seconds = setting("BENCH_SECONDS", 5);
  let busyShare = 0;
  for (let round = 0; round <= rounds; round += 1) {
    for (const { label, url, tables, runs } of inTurn(contestants, round)) {
      bench.progress(`${round === 0 ? "warming up" : `round ${round} of ${rounds}`}: ${label}`);
      busyShare = Math.max(busyShare, await waitForQuiet(bench.signal));
      const load = { url, tokens: [token], connections: CONNECTIONS, seconds };
      const run = await withRowsCounted(bench.database, tables, () => runRegistrations(load));
      if (round > 0) runs.push(run);
    }
  }
  return busyShare;
}

async function withRowsCounted(
  database: BenchDatabase,
  tables: RowsByTable,
  load: () => Promise<LoadResult>,
): Promise<LoadResult> {
  await database.checkpoint();
  const before = await rowsOf(database, [...tables.keys()]);
  const result = allCreated(await load());
  const after = await rowsOf(database, [...tables.keys()]);
  for (const [table, rows] of tables) {
    const added = (after.get(table) ?? 0) - (before.get(table) ?? 0);
    if (added !== result.completed * rows)
      throw new Error(`${result.completed} registrations added ${added} rows to ${table}, not ${rows} each`);
  }
  return result;
}

function reportOf(measured: {
  contestants: Record<ContestantName, Contestant>;
  flights: readonly Flight[];
  start: { listeningMs: number; answeredMs: number };
  memoryMb: number;
  busyShare: number;
}): Report {
  const { contestants, flights, start, memoryMb, busyShare } = measured;
  const rates = (name: ContestantName) => contestants[name].runs.map(({ rate }) => rate);
  const against = (name: ContestantName) => ratioOfRounds(rates("rest"), rates(name));
  const goals: Figure[] = [
    { goal: GOALS.rawCeiling, value: against("raw") },
    { goal: GOALS.sameRows, value: against("sameRows") },
    { goal: GOALS.fourRows, value: against("fourRows") },
    { goal: GOALS.restToConnect, value: against("connect") },
    { goal: GOALS.firstAnswer, value: start.answeredMs },
    { goal: GOALS.memory, value: memoryMb },
  ];
  const rows = Object.values(contestants).map(({ label, runs }) => [
    label,
    medianOf(runs, ({ rate }) => rate).toFixed(0),
    medianOf(runs, ({ p50Ms }) => p50Ms).toFixed(1),
    medianOf(runs, ({ p99Ms }) => p99Ms).toFixed(1),
  ]);
  const notes = [
    `Round trips: ${flights.length}, statements: ${flights.flat().length}.`,
    `The service listens ${start.listeningMs.toFixed(0)} ms after the start.`,
    `Before a turn other programs used ${(busyShare * 100).toFixed(0)} % of the processors at most.`,
  ].slice(0, setting("BENCH_QUIET_SECONDS", 10) === 0 ? 2 : 3);
  const runs = Object.fromEntries(Object.values(contestants).map((each) => [each.label, each.runs]));
  const head = [`registrations, ${CONNECTIONS} connections`, "a second", "p50 ms", "p99 ms"];
  return { head, rows, goals, notes, measured: { runs, start, memoryMb, busyShare } };
}
