import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import knex from "knex";
import { fillSearchWords } from "../src/postgres/search/fill-search-words.js";
import { type Bench, type BenchDatabase, setting } from "./bench.js";
import { bookFirst, type Clinic, countWhenMade, dateIn, openClinic, registerPatient } from "./clinic.js";
import { allCreated, CONNECTIONS, runLoad, runRegistrations } from "./load.js";
import { databaseSeconds, median, processorSeconds, ratioOfRounds, waitForQuiet } from "./machine.js";
import { otherCapacity, otherTimes, ruleUpdates } from "./prepared-operations.js";
import { type Figure, GOALS, type Report } from "./report.js";
import { type Call, openCallers, RPC } from "./requests.js";
import { type RunningService, signForNewTenants, signToken, startService } from "./service.js";

/** A load that is compared with the first of its group. */
interface Load {
  readonly group: string;
  readonly label: string;
  /** Returns calls a second. */
  run(): Promise<number>;
}

type Measured = Omit<Load, "run"> & { readonly rates: number[] };

const WARM_UPS = 2;
const FEW_PATIENTS = 10_000;
const TENANTS = [1, 10, 50, 200];
const FEW_APPOINTMENTS = 10_000;
const HALF_YEAR_DAYS = 182;
const FREE_SLOTS = 10_000;
const READS_AT_ONCE = 8;
const DIRECTORY = "cupo.clinic.v1.PatientDirectoryService";
/** Groups of loads that compare 1,000,000 rows with 10,000. */
const BY_ROWS = ["registration", "search for a patient", "list of patients"];
const INDICATORS = "indicators";
/** Groups of loads that compare a horizon of 400 days with one of 90, with as many slots a day. */
const BY_HORIZON = ["week searched", "booking", "rule with another capacity", "rule with other times"];
const HORIZON = "horizon";
const HORIZON_DAYS = [90, 400];
const BOOKINGS = 40;
const GROUPS = [...BY_ROWS, INDICATORS, HORIZON, "tenants", "processes", "node"];
/** The first names are drawn far more often than the last. */
const FIRST_NAMES = `María José Juan Luis Ana Carlos Andrés Luz Jorge Diana Sandra Camilo Paola Jesús Laura Santiago
  Valentina Sebastián Daniela Felipe Natalia Óscar Gloria Iván Rocío Mauricio Adriana Hernán Yolanda Nicolás`.split(
  /\s+/,
);
const LAST_NAMES = `Rodríguez Gómez González Martínez García López Hernández Sánchez Ramírez Pérez Díaz Torres Rojas
  Moreno Vargas Castro Gutiérrez Álvarez Muñoz Ortiz Jiménez Ruiz Peña Suárez Ospina Zuluaga Ñáñez Tunubalá`.split(
  /\s+/,
);

/**
 * Compares loads that take turns on one database:
 * - registrations, searches for a patient and lists, with 10,000 and with 1,000,000 patients (`BENCH_PATIENTS`)
 * - indicators of a half-year of 10,000 and of 1,000,000 appointments (`BENCH_APPOINTMENTS`), by processor time
 * - searches, bookings and changes of rules with a horizon of 90 and of 400 days, the latter with 2,000,000 slots
 *   (`BENCH_OPEN_SLOTS`)
 * - registrations of one and of more tenants, by one and by two processes, by this and another Node.js
 *   (`BENCH_OTHER_NODE`)
 *
 * `BENCH_KINDS` selects the groups.
 */
export async function growth(bench: Bench): Promise<Report> {
  const kinds = process.env["BENCH_KINDS"]?.split(",") ?? GROUPS;
  const unknown = kinds.filter((kind) => !GROUPS.includes(kind));
  if (unknown.length > 0) throw new Error(`BENCH_KINDS must be a list of: ${GROUPS.join(",")}`);
  const running: RunningService[] = [];
  const serve = async (node?: string) => {
    const service = await startService({ ...bench, ...(node === undefined ? {} : { node }) });
    running.push(service);
    return service;
  };
  try {
    const loads: Load[] = [];
    if (kinds.some((kind) => BY_ROWS.includes(kind))) loads.push(...(await loadsByPatients(bench, await serve())));
    if (kinds.includes(INDICATORS)) loads.push(...(await loadsByAppointments(bench, await serve())));
    if (kinds.includes(HORIZON)) loads.push(...(await loadsByHorizon(bench, await serve())));
    if (kinds.includes("tenants")) loads.push(...(await loadsByTenants(bench, await serve())));
    const [token] = await signForNewTenants(bench.database.dataDir, 1);
    const tokens = [token ?? ""];
    if (kinds.includes("processes")) {
      loads.push(processLoad([await serve()], tokens), processLoad([await serve(), await serve()], tokens));
    }
    const otherNode = process.env["BENCH_OTHER_NODE"];
    if (kinds.includes("node") && otherNode !== undefined) {
      loads.push(
        nodeLoad(process.execPath, await serve(), tokens),
        nodeLoad(otherNode, await serve(otherNode), tokens),
      );
    }
    const wanted = loads.filter(({ group }) => kinds.includes(BY_HORIZON.includes(group) ? HORIZON : group));
    return reportOf(await inTurns(bench, wanted));
  } finally {
    for (const { stop } of running.toReversed()) await stop();
  }
}

async function loadsByPatients({ database, progress }: Bench, service: RunningService): Promise<Load[]> {
  const tenants: { count: number; token: string; call: Call }[] = [];
  for (const count of [FEW_PATIENTS, setting("BENCH_PATIENTS", 1_000_000)]) {
    const tenantId = randomUUID();
    progress(`adding ${count} patients`);
    await addPatients(database, tenantId, count);
    const token = await signToken(database.dataDir, tenantId);
    tenants.push({ count, token, call: openCallers(service, token)["Connect JSON"] });
  }
  progress("adding their search words");
  await addSearchWords(database);
  return BY_ROWS.flatMap((group) =>
    tenants.map(({ count, token, call }) => ({
      group,
      label: `${group} among ${count.toLocaleString("en-US")} patients`,
      run: group === "registration" ? registering([service], [token]) : reading(call, readOf(group, count)),
    })),
  );
}

function readOf(group: string, count: number): { rpc: string; message: JsonObject } {
  if (group === "list of patients") return { rpc: `${DIRECTORY}/ListPatients`, message: {} };
  const documentNumberPrefix = documentNumberOf(Math.floor(count / 2));
  return { rpc: `${DIRECTORY}/SearchPatients`, message: { documentNumberPrefix } };
}

function documentNumberOf(patient: number): string {
  return String(10_000_000 + patient * 97);
}

function reading(call: Call, { rpc, message }: { rpc: string; message: JsonObject }): () => Promise<number> {
  const read = async () => (await call(rpc, message), 200);
  return async () => (await runLoad({ callers: READS_AT_ONCE, seconds: secondsOfARun(), next: () => read })).rate;
}

async function loadsByAppointments({ database, progress }: Bench, service: RunningService): Promise<Load[]> {
  const loads: Load[] = [];
  for (const count of [FEW_APPOINTMENTS, setting("BENCH_APPOINTMENTS", 1_000_000)]) {
    const tenantId = randomUUID();
    const call = openCallers(service, await signToken(database.dataDir, tenantId))["Connect JSON"];
    progress(`adding ${count} appointments`);
    await addAppointments(database, tenantId, await openClinic(call, FREE_SLOTS), count);
    await whenSummarized(database, tenantId);
    const months = { monthFrom: dateIn(-HALF_YEAR_DAYS).slice(0, 7), monthTo: dateIn(0).slice(0, 7) };
    const request = { ...months, groupBy: ["MONTH", "PROGRAM"] };
    const read = async () => (await call("cupo.clinic.v1.OpportunityService/GetOpportunityIndicators", request), 200);
    const label = `indicators of ${count.toLocaleString("en-US")} appointments, a second of processor time`;
    loads.push({ group: INDICATORS, label, run: () => rateByProcessor(database, service, read) });
  }
  return loads;
}

/** Returns calls a second of processor time of service and database. Other programs do not change it much. */
async function rateByProcessor(
  database: BenchDatabase,
  { pid }: RunningService,
  read: () => Promise<number>,
): Promise<number> {
  const spent = async () => processorSeconds(pid) + (await databaseSeconds(database));
  const before = await spent();
  const { completed } = await runLoad({ callers: 1, seconds: secondsOfARun(), next: () => read });
  return completed / ((await spent()) - before);
}

/** Adds past appointments of a half-year to the programs of a clinic by one statement. */
async function addAppointments(
  database: BenchDatabase,
  tenantId: string,
  { requestSourceId, appointmentTypeId }: Clinic,
  count: number,
): Promise<void> {
  await database.query(
    `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, rule_id, practitioner_id, location_id,
       local_date, starts_at, ends_at, status, version, request_source_id, appointment_type_id, requested_on, assigned_on,
       due_on, first_visit, overbooked, created_at, updated_at)
     SELECT $1, uuidv7(), a.id, o.service_id, p.id, r.id, w.practitioner_id, p.location_id, d.day, t.at,
       t.at + interval '1 minute', CASE n % 10 WHEN 0 THEN 'NO_SHOW' WHEN 1 THEN 'CANCELLED' ELSE 'ATTENDED' END, 2, $2, $3,
       d.day - (n * 13 % 46 + n * 29 % 61)::int, d.day - (n * 13 % 46)::int, d.day - (n % 30)::int, n % 4 = 0, false, t.at, t.at
     FROM (SELECT *, row_number() OVER (ORDER BY id) - 1 AS number, count(*) OVER () AS programs FROM programs
       WHERE tenant_id = $1) p
     JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM patients WHERE tenant_id = $1) a USING (number)
     JOIN program_rules r ON r.tenant_id = $1 AND r.program_id = p.id
     JOIN program_services o ON o.tenant_id = $1 AND o.program_id = p.id
     JOIN program_practitioners w ON w.tenant_id = $1 AND w.program_id = p.id
     CROSS JOIN LATERAL generate_series(p.number, $4::bigint - 1, p.programs) AS n
     CROSS JOIN LATERAL (SELECT current_date - 1 - (n / p.programs % ${HALF_YEAR_DAYS})::int AS day) AS v
     CROSS JOIN LATERAL (SELECT v.day, v.day + n / p.programs / ${HALF_YEAR_DAYS} * interval '1 minute' AS minute) AS d
     CROSS JOIN LATERAL (SELECT d.minute AT TIME ZONE 'America/Bogota' AS at) AS t`,
    [tenantId, requestSourceId, appointmentTypeId, count],
  );
  await database.query("VACUUM ANALYZE appointments");
}

/** Has the background jobs build the summaries of a tenant anew, and waits for them. */
async function whenSummarized(database: BenchDatabase, tenantId: string): Promise<void> {
  await database.query("DELETE FROM opportunity_states WHERE tenant_id = $1", [tenantId]);
  const built = "SELECT FROM opportunity_states WHERE tenant_id = $1 AND built_through IS NULL";
  while ((await database.query(built, [tenantId])).length === 0) await delay(1_000);
}

async function loadsByHorizon({ database, progress }: Bench, service: RunningService): Promise<Load[]> {
  const slotsADay = setting("BENCH_OPEN_SLOTS", 2_000_000) / Math.max(...HORIZON_DAYS);
  const loads: Load[] = [];
  for (const days of HORIZON_DAYS) {
    const call = openCallers(service, await signToken(database.dataDir, randomUUID()))["Connect JSON"];
    const horizon = { horizonDays: days, expectedVersion: 1, updateMask: "horizonDays" };
    await call("cupo.clinic.v1.TenantSettingsService/UpdateTenantSettings", horizon);
    progress(`making the slots of ${days} days`);
    const clinic = await openClinic(call, slotsADay * days, days);
    const { patientId, serviceId } = clinic;
    const week = { rpc: RPC.search, message: { patientId, serviceId, dateFrom: dateIn(1), dateTo: dateIn(7) } };
    const runs = [
      reading(call, week),
      () => rateOfBookings(call, clinic),
      () => rateOfChanges(call, clinic, otherCapacity),
      () => rateOfChanges(call, clinic, otherTimes),
    ];
    const sized = `a horizon of ${days} days, ${clinic.slots.toLocaleString("en-US")} slots`;
    for (const [i, group] of BY_HORIZON.entries()) {
      const run = runs[i];
      if (run !== undefined) loads.push({ group, label: `${group}: ${sized}`, run });
    }
  }
  await database.query("VACUUM ANALYZE");
  return loads.toSorted((one, other) => BY_HORIZON.indexOf(one.group) - BY_HORIZON.indexOf(other.group));
}

async function rateOfBookings(call: Call, clinic: Clinic): Promise<number> {
  const patients = await Promise.all(Array.from({ length: BOOKINGS }, () => registerPatient(call)));
  const next = () => {
    const patientId = patients.pop();
    return patientId === undefined ? undefined : async () => (await bookFirst(call, clinic, patientId, 2, 80), 200);
  };
  return (await runLoad({ callers: 1, next })).rate;
}

/** Changes the rule of each program, one after the other. Then waits for the jobs. */
async function rateOfChanges(call: Call, { programs }: Clinic, changesOf: typeof otherTimes): Promise<number> {
  const updates = await ruleUpdates(call, programs, changesOf);
  const next = () => {
    const update = updates.pop();
    return update && (async () => (await call(RPC.updateRule, update.message), 200));
  };
  const { rate } = await runLoad({ callers: 1, next });
  for (const programId of programs) await countWhenMade(call, programId);
  return rate;
}

/** Registers over the same total number of connections, an equal part of them to each process. */
function registering(services: readonly RunningService[], tokens: readonly string[]): () => Promise<number> {
  return async () => {
    const options = { tokens, connections: CONNECTIONS / services.length, seconds: secondsOfARun() };
    const runs = services.map(({ baseUrl }) => runRegistrations({ ...options, url: `${baseUrl}/patients` }));
    return (await Promise.all(runs)).map(allCreated).reduce((sum, { rate }) => sum + rate, 0);
  };
}

function secondsOfARun(): number {
  return setting("BENCH_SECONDS", 3);
}

async function loadsByTenants({ database }: Bench, service: RunningService): Promise<Load[]> {
  const loads: Load[] = [];
  for (const count of TENANTS) {
    const tokens = await signForNewTenants(database.dataDir, count);
    loads.push({ group: "tenants", label: `registration by ${count} tenants`, run: registering([service], tokens) });
  }
  return loads;
}

function processLoad(services: readonly RunningService[], tokens: readonly string[]): Load {
  const label = `registration by processes of the service: ${services.length}`;
  return { group: "processes", label, run: registering(services, tokens) };
}

function nodeLoad(node: string, service: RunningService, tokens: readonly string[]): Load {
  const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  return { group: "node", label: `registration by Node.js ${version}`, run: registering([service], tokens) };
}

/** Adds patients to a tenant by one statement. */
async function addPatients(database: BenchDatabase, tenantId: string, count: number): Promise<void> {
  const some = (names: readonly string[], salt: number) =>
    `('{${names.join(",")}}'::text[])[1 + floor(${names.length} * power((hashint4(n + ${salt}) & 65535) / 65536.0, 3))::int]`;
  const firstNames = `${some(FIRST_NAMES, 0)} || ' ' || ${some(FIRST_NAMES, 1e7)}`;
  const lastNames = `${some(LAST_NAMES, 2e7)} || ' ' || ${some(LAST_NAMES, 3e7)}`;
  await database.query(
    `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
       full_name, phone)
     SELECT $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'CC', document, 'CC', document,
       ${firstNames} || ' ' || ${lastNames},
       '+57 3' || lpad(((hashint4(n) & 2147483647) % 1000000000)::text, 9, '0')
     FROM (SELECT n, (10000000 + n * 97)::text AS document FROM generate_series(1, $2) AS n) AS numbered`,
    [tenantId, count],
  );
}

/** Adds the words that patients are found by, as the migration does. */
async function addSearchWords(database: BenchDatabase): Promise<void> {
  const owner = knex({ client: "pg", connection: database.ownerUrl });
  try {
    await owner.transaction(fillSearchWords);
  } finally {
    await owner.destroy();
  }
  await database.query("VACUUM ANALYZE patients, patient_search_words");
}

/** The first rounds warm up. */
async function inTurns({ database, signal, progress }: Bench, loads: readonly Load[]): Promise<Measured[]> {
  const rounds = setting("BENCH_ROUNDS", 6);
  const measured = loads.map((load) => ({ ...load, rates: [] as number[] }));
  for (let round = 1 - WARM_UPS; round <= rounds; round += 1) {
    progress(round <= 0 ? "warming up" : `round ${round} of ${rounds}`);
    for (const { run, rates } of measured) {
      await database.checkpoint();
      await waitForQuiet(signal);
      const rate = await run();
      if (round > 0) rates.push(rate);
    }
  }
  return measured.map(({ group, label, rates }) => ({ group, label, rates }));
}

function reportOf(measured: readonly Measured[]): Report {
  const compared = measured.map((load) => {
    const first = measured.find(({ group }) => group === load.group) ?? load;
    return { ...load, ratio: ratioOfRounds(load.rates, first.rates), isFirst: first === load };
  });
  const rows = compared.map(({ label, rates, ratio }) => [label, median(rates).toFixed(0), ratio.toFixed(2)]);
  const goals: Figure[] = compared
    .filter(({ group, isFirst }) => BY_ROWS.includes(group) && !isFirst)
    .map(({ group, ratio }) => ({
      goal: { ...GOALS.growth, text: `${GOALS.growth.text}: ${group}` },
      value: 1 / ratio,
    }));
  const halfYear = compared.find(({ group, isFirst }) => group === INDICATORS && !isFirst);
  if (halfYear !== undefined) goals.push({ goal: GOALS.indicators, value: 1_000 / median(halfYear.rates) });
  return { head: ["load", "a second", "against the first of its kind"], rows, goals, measured };
}
