import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Bench, setting } from "./bench.js";
import { bookFirst, type Clinic, openClinic, registerPatient } from "./clinic.js";
import { type Speed, speedOf } from "./machine.js";
import { GOALS, type Report } from "./report.js";
import { type Call, openCallers } from "./requests.js";
import { type RunningService, signToken, startService } from "./service.js";

/** How long a part of the measurement took, with the bookings of the other tenant meanwhile. */
interface Turn {
  readonly label: string;
  readonly seconds: number;
  readonly rows: number;
  readonly bookings: Speed;
}

const BOOKINGS_PER_SECOND = 10;
const BOOKING_DAYS = 80;
/** The slots of the tenant that books, beside the one that imports. They suffice for 40 minutes. */
const SLOTS = 60_000;
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FIRST_START_MS = Date.parse("2020-01-06T12:00:00Z");
/** Visits of half an hour, of which a patient has one a day, and a day's turns. */
const TURNS_A_DAY = 20;

/**
 * Imports a folder of patients and of their past appointments by `cupo import`, with a defect in every tenth row, while
 * another tenant books. Returns the rows a second, how long the second run takes, which changes nothing, and how much
 * longer the bookings take.
 */
export async function imports(bench: Bench): Promise<Report> {
  const { dataDir } = bench.database;
  const folder = await mkdtemp(join(tmpdir(), "cupo-bench-import-"));
  const service = await startService(bench);
  try {
    const [tokens, others] = await Promise.all([signToken(dataDir), signToken(dataDir, randomUUID())]);
    const [source, booking] = [tokens, others].map((token) => openCallers(service, token)["Connect JSON"]);
    if (source === undefined || booking === undefined) throw new Error("there are no callers");
    bench.progress("opening two clinics and writing the files");
    const clinic = await openClinic(source, 1_000);
    const other = await openClinic(booking, SLOTS);
    const rows = await writeFolder(folder, clinic);
    const book = bookings(booking, other);
    const turns = [await turn("nothing", book, () => delay(setting("BENCH_SECONDS", 20) * 1_000), 0)];
    for (const label of ["first import", "second import"]) {
      bench.signal.throwIfAborted();
      bench.progress(label);
      turns.push(await turn(label, book, () => runImport(folder, tokens, service, bench), rows));
    }
    return reportOf(turns);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs work while the other tenant books at even intervals. */
async function turn(label: string, book: () => Promise<number>, work: () => Promise<void>, rows: number) {
  const times: number[] = [];
  const startedAt = performance.now();
  const state = { isDone: false };
  const done = work().finally(() => {
    state.isDone = true;
  });
  for (let i = 0; !state.isDone; i += 1) {
    await delay(Math.max(0, startedAt + (i * 1_000) / BOOKINGS_PER_SECOND - performance.now()));
    times.push(await book());
  }
  await done;
  const seconds = (performance.now() - startedAt) / 1_000;
  return { label, seconds, rows, bookings: speedOf(times, seconds) };
}

/** Returns a function that searches and books, each time on the next day, and returns the milliseconds of both. */
function bookings(call: Call, clinic: Clinic): () => Promise<number> {
  let booked = 0;
  return async () => {
    const patientId = await registerPatient(call);
    const sentAt = performance.now();
    await bookFirst(call, clinic, patientId, 1 + (booked++ % BOOKING_DAYS));
    return performance.now() - sentAt;
  };
}

async function runImport(folder: string, token: string, { internalUrl }: RunningService, { signal }: Bench) {
  const flags = ["dist/main.js", "import", folder, "--source", "bench", "--url", internalUrl];
  const env = { ...process.env, CUPO_TOKEN: token };
  const child = spawn(process.execPath, flags, { env, signal, stdio: ["ignore", "ignore", "inherit"] });
  const [status] = await once(child, "exit");
  if (status !== 2) throw new Error(`cupo import ended with ${status}; 2 was expected, for rejected rows`);
}

async function writeFolder(folder: string, clinic: Clinic): Promise<number> {
  const patients = setting("BENCH_PATIENTS", 20_000);
  const appointments = setting("BENCH_APPOINTMENTS", 50_000);
  await writeRows(join(folder, "patients.ndjson"), patients, patientRow);
  await writeRows(join(folder, "appointments.ndjson"), appointments, (i) => appointmentRow(clinic, i, patients));
  return patients + appointments;
}

function writeRows(path: string, count: number, rowOf: (index: number) => JsonObject): Promise<void> {
  function* lines() {
    for (let i = 0; i < count; i += 1) yield `${JSON.stringify(rowOf(i))}\n`;
  }
  return pipeline(Readable.from(lines()), createWriteStream(path));
}

function isDirty(index: number): boolean {
  return index % 10 === 9;
}

function patientRow(index: number): JsonObject {
  return {
    sourceId: `P${index}`,
    patient: {
      documentType: "CC",
      documentNumber: String(1_000_000_000 + index),
      fullName: `Ana María Pérez Gómez ${index % 997}`.replace(/ \d+$/, ""),
      phone: isDirty(index) ? "12" : `+57 300 ${5_550_000 + (index % 9_999)}`,
      email: `persona${index}@example.com`,
      consentGrantedAt: "2020-01-02T10:00:00-05:00",
    },
  };
}

/** An appointment of a patient without a defect. The patient's next one is on another day. */
function appointmentRow(clinic: Clinic, index: number, patients: number): JsonObject {
  const good = Math.floor(patients * 0.9);
  const person = index % good;
  const startMs = FIRST_START_MS + Math.floor(index / good) * DAY_MS + (index % TURNS_A_DAY) * 30 * MINUTE_MS;
  return {
    sourceId: `A${index}`,
    appointment: {
      patient: { sourceId: `P${Math.floor(person / 9) * 10 + (person % 9)}` },
      practitioner: { resourceId: clinic.practitionerId },
      service: { resourceId: clinic.serviceId },
      programId: clinic.programs[0] ?? "",
      requestSourceId: clinic.requestSourceId,
      appointmentTypeId: clinic.appointmentTypeId,
      startsAt: new Date(startMs).toISOString(),
      endsAt: new Date(startMs + 30 * MINUTE_MS).toISOString(),
      status: isDirty(index) ? "NO_SHOW" : "ATTENDED",
      requestedOn: "2020-01-02",
    },
  };
}

function reportOf(turns: readonly Turn[]): Report {
  const rows = turns.map(({ label, seconds, rows: count, bookings: { p50Ms, p99Ms } }) => [
    label,
    seconds.toFixed(0),
    count === 0 ? "" : (count / seconds).toFixed(0),
    `${p50Ms.toFixed(0)}, ${p99Ms.toFixed(0)}`,
  ]);
  const [alone, first] = turns;
  if (alone === undefined || first === undefined) throw new Error("nothing was measured");
  const goals = [
    { goal: GOALS.importRate, value: first.rows / first.seconds },
    { goal: GOALS.besideImport, value: first.bookings.p99Ms / alone.bookings.p99Ms },
  ];
  return { head: ["beside the bookings", "s", "rows/s", "search and book p50, p99 ms"], rows, goals, measured: turns };
}
