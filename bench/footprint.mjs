/**
 * Measures what the database keeps of each thing that a clinic does: bytes of tables with their indexes, and bytes of the
 * write-ahead log, which is what a standby is sent and an archive keeps. Prints a table and, of each step, the tables that grow:
 *
 *   npm run build && node bench/footprint.mjs
 *
 * BENCH_COUNT is how many of each are done (2,000), BENCH_OPEN_SLOTS how many slots are made (50,000).
 */
import { openBenchDatabase } from "./bench-database.mjs";
import { callerOf } from "./greedy-caller.mjs";
import { signToken, startService } from "./measured-service.mjs";
import { dateIn, openSlots } from "./open-slots.mjs";

const COUNT = Number(process.env["BENCH_COUNT"] || 2_000);
const SLOTS = Number(process.env["BENCH_OPEN_SLOTS"] || 50_000);
const DAYS = 60;
const BOOKING = "cupo.clinic.v1.BookingService";
/** What is purged when its time is over, and stays for none of the sums. */
const PASSING =
  /^(idempotency_keys|consumed_option_tokens|event_outbox|event_positions|quota_windows|option_token_keys|jobs|tasks|job_queues)$/;
const SHOWN_SHARE = 0.03;

const { signal } = new AbortController();
const database = await openBenchDatabase((text) => console.error(text));
try {
  const { dataDir, url: databaseUrl } = database;
  const service = await startService({ dataDir, databaseUrl, signal });
  try {
    await measureAll(callOf(callerOf({ ...service, token: await signToken(dataDir, signal) })));
  } finally {
    await service.stop();
  }
} finally {
  await database.close();
}

async function measureAll(call) {
  console.log(
    `${"bytes for each".padEnd(22)}${["to keep", "for a while", "WAL"].map((text) => text.padStart(14)).join("")}`,
  );
  let clinic;
  await measure("open slot", async () => {
    clinic = await openSlots(call, SLOTS);
    return clinic.slots;
  });
  const ids = await idsFor(call);
  const patients = [];
  await measure("patient", () => repeat(async (i) => patients.push(await register(call, i))));
  const appointments = [];
  await measure("booking", () => repeat(async (i) => appointments.push(await book(call, clinic, ids, patients[i], i))));
  await measure("move", () => repeat((i) => move(call, clinic, appointments[i], i + DAYS / 2)));
}

/** Does something, and prints what there is more of afterwards, for each of what `act` says it did. */
async function measure(label, act) {
  await database.checkpoint();
  const before = await footprint();
  const count = await act();
  const after = await footprint();
  const grown = [...after.sizes]
    .map(([table, size]) => ({ table, bytes: (size - (before.sizes.get(table) ?? 0)) / count }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const sum = (rows) => rows.reduce((total, { bytes }) => total + bytes, 0);
  const kept = sum(grown.filter(({ table }) => !PASSING.test(table)));
  const passing = sum(grown.filter(({ table }) => PASSING.test(table)));
  const figures = [kept, passing, (after.wal - before.wal) / count].map((bytes) => bytes.toFixed(0).padStart(14));
  console.log(`${label.padEnd(22)}${figures.join("")}`);
  for (const { table, bytes } of grown.filter((each) => each.bytes > (kept + passing) * SHOWN_SHARE))
    console.log(`  ${table.padEnd(40)}${bytes.toFixed(0).padStart(10)}`);
}

async function footprint() {
  const rows = await database.query(`
    SELECT coalesce(pg_partition_root(c.oid)::regclass::text, relname) AS relname, sum(pg_total_relation_size(c.oid)) AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') GROUP BY 1`);
  const [{ wal }] = await database.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS wal");
  return { sizes: new Map(rows.map(({ relname, bytes }) => [relname, Number(bytes)])), wal: Number(wal) };
}

async function repeat(act) {
  for (let i = 0; i < COUNT; i += 1) await act(i);
  return COUNT;
}

async function idsFor(call) {
  const named = (name) => ({ code: name, name, active: true });
  const catalog = "cupo.access.v1.CatalogService";
  const source = await call(`${catalog}/CreateRequestSource`, { ...named("En línea"), channel: "WEB" });
  const { opportunityDefinition } = await call("cupo.clinic.v1.ReferenceDataService/CreateOpportunityDefinition", {
    ...named("Programada"),
    maxWaitDays: 30,
    dayKind: "BUSINESS",
  });
  const { opportunityDefinitionId } = opportunityDefinition;
  const type = { ...named("Consulta"), durationMinutes: 10, opportunityDefinitionId };
  const { appointmentType } = await call(`${catalog}/CreateAppointmentType`, type);
  return { requestSourceId: source.requestSource.id, appointmentTypeId: appointmentType.id };
}

async function register(call, i) {
  const { patient } = await call("cupo.access.v1.PatientService/RegisterPatient", {
    documentType: "CC",
    documentNumber: String(100_000_000_000 + i),
    fullName: "Ana María Pérez Gómez",
    phone: "+57 300 555 0100",
    email: "ana.perez@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
  });
  return patient.id;
}

async function book(call, { serviceId }, ids, patientId, i) {
  const optionToken = await firstOption(call, { patientId, serviceId, appointmentTypeId: ids.appointmentTypeId }, i);
  return (await call(`${BOOKING}/BookAppointment`, { patientId, optionToken, ...ids })).appointment;
}

async function move(call, { serviceId }, { appointmentId, version }, i) {
  const optionToken = await firstOption(call, { appointmentId, serviceId }, i);
  const request = { appointmentId, optionToken, expectedVersion: version };
  await call("cupo.access.v1.AppointmentService/RescheduleAppointment", request);
}

async function firstOption(call, wish, i) {
  const date = dateIn(1 + (i % DAYS));
  const { options } = await call(`${BOOKING}/SearchAppointmentOptions`, { ...wish, dateFrom: date, dateTo: date });
  return options[0].optionToken;
}

function callOf({ ask }) {
  return async (rpc, request) => {
    const { status, body } = await ask(rpc, request);
    if (status !== 200) throw new Error(`${rpc} was answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
}
