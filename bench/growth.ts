import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import knex from "knex";
import { fillSearchWords } from "../src/postgres/search/fill-search-words.js";
import { type Bench, type BenchDatabase, setting } from "./bench.js";
import { allCreated, CONNECTIONS, runLoad, runRegistrations } from "./load.js";
import { median, ratioOfRounds, waitForQuiet } from "./machine.js";
import { GOALS, type Report } from "./report.js";
import { type Call, openCallers } from "./requests.js";
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
const READS_AT_ONCE = 8;
const DIRECTORY = "cupo.clinic.v1.PatientDirectoryService";
/** Groups of loads that compare 1,000,000 rows with 10,000. */
const BY_ROWS = ["registration", "search for a patient", "list of patients"];
const GROUPS = [...BY_ROWS, "tenants", "processes", "node"];
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
    const wanted = loads.filter(({ group }) => kinds.includes(group));
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
  const goals = compared
    .filter(({ group, isFirst }) => BY_ROWS.includes(group) && !isFirst)
    .map(({ group, ratio }) => ({
      goal: { ...GOALS.growth, text: `${GOALS.growth.text}: ${group}` },
      value: 1 / ratio,
    }));
  return { head: ["load", "a second", "against the first of its kind"], rows, goals, measured };
}
