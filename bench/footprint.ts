import { type Bench, type BenchDatabase, setting } from "./bench.js";
import { bookFirst, type Clinic, moveOf, openClinic, registerPatient } from "./clinic.js";
import type { Report } from "./report.js";
import { type Call, openCallers, RPC } from "./requests.js";
import { signToken, startService } from "./service.js";

/** Bytes that the database keeps of one thing. */
interface Footprint {
  readonly label: string;
  /** Bytes of tables with their indexes that nothing removes. */
  readonly kept: number;
  /** Bytes of tables that are purged. */
  readonly passing: number;
  /** Bytes of the write-ahead log. */
  readonly log: number;
  /** The tables that grow most, with their bytes. */
  readonly largest: readonly string[];
}

interface Sizes {
  readonly tables: ReadonlyMap<string, number>;
  readonly log: number;
}

const SLOTS = 50_000;
const DAYS = 60;
const PURGED =
  /^(idempotency_keys|consumed_option_tokens|event_outbox|event_positions|quota_windows|option_token_keys|jobs|tasks|job_queues)$/;
const LARGEST = 4;

/** Measures the bytes that the database keeps of each slot, patient, booking and move (`BENCH_CALLS` of each). */
export async function footprint(bench: Bench): Promise<Report> {
  const service = await startService(bench);
  try {
    const call = openCallers(service, await signToken(bench.database.dataDir))["Connect JSON"];
    return reportOf(await measureAll(bench, call));
  } finally {
    await service.stop();
  }
}

async function measureAll({ database, progress }: Bench, call: Call): Promise<Footprint[]> {
  const count = setting("BENCH_CALLS", 2_000);
  const repeat = async <T>(act: (i: number) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (let i = 0; i < count; i += 1) results.push(await act(i));
    return results;
  };
  const measured: Footprint[] = [];
  const measure = async <T>(label: string, act: () => Promise<T>, countOf: (result: T) => number): Promise<T> => {
    progress(`measuring: ${label}`);
    await database.checkpoint();
    const before = await sizesOf(database);
    const result = await act();
    measured.push({ label, ...growthOf(before, await sizesOf(database), countOf(result)) });
    return result;
  };
  const slots = setting("BENCH_OPEN_SLOTS", SLOTS);
  const clinic: Clinic = await measure(
    "open slot",
    () => openClinic(call, slots),
    (opened) => opened.slots,
  );
  const all = (results: readonly unknown[]) => results.length;
  const patients = await measure("patient", () => repeat(() => registerPatient(call)), all);
  const book = (i: number) => bookFirst(call, clinic, patients[i] ?? "", 1 + (i % DAYS));
  const booked = await measure("booking", () => repeat(book), all);
  const move = async (i: number) => {
    const request = await moveOf(call, clinic, booked[i] ?? "", 1 + ((i + DAYS / 2) % DAYS));
    await call(RPC.reschedule, request);
  };
  await measure("move", () => repeat(move), all);
  return measured;
}

async function sizesOf(database: BenchDatabase): Promise<Sizes> {
  const rows = await database.query(`
    SELECT coalesce(pg_partition_root(c.oid)::regclass::text, relname) AS name, sum(pg_total_relation_size(c.oid)) AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') GROUP BY 1`);
  const [log] = await database.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes");
  const tables = new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
  return { tables, log: Number(log?.["bytes"]) };
}

function growthOf(before: Sizes, after: Sizes, count: number): Omit<Footprint, "label"> {
  const grown = Array.from(after.tables, ([table, bytes]) => ({
    table,
    bytes: (bytes - (before.tables.get(table) ?? 0)) / count,
  })).toSorted((one, other) => other.bytes - one.bytes);
  const sum = (isPurged: boolean) =>
    grown.filter(({ table }) => PURGED.test(table) === isPurged).reduce((total, { bytes }) => total + bytes, 0);
  return {
    kept: sum(false),
    passing: sum(true),
    log: (after.log - before.log) / count,
    largest: grown.slice(0, LARGEST).map(({ table, bytes }) => `${table} ${bytes.toFixed(0)}`),
  };
}

function reportOf(measured: readonly Footprint[]): Report {
  const rows = measured.map(({ label, kept, passing, log, largest }) => [
    label,
    ...[kept, passing, log].map((bytes) => bytes.toFixed(0)),
    largest.join(", "),
  ]);
  const head = ["bytes for each", "to keep", "for a while", "write-ahead log", "largest tables"];
  return { head, rows, goals: [], measured };
}
