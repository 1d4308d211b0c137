/**
 * Measures pages of lists among 1,000,000 patients (BENCH_LIST_ROWS) and 100,000 payers, as a client of the internal
 * listener gets them, one after the other, and prints the plans of their statements:
 *
 *   npm run build && node bench/lists.mjs
 */
import { randomUUID } from "node:crypto";
import { Client, escapeLiteral, Pool } from "pg";
import { pino } from "pino";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { openKeyRing } from "../dist/option-tokens/key-ring.js";
import { createPageTokens } from "../dist/option-tokens/page-tokens.js";
import { optionTokenKeys } from "../dist/postgres/tables/appointments/option-token-keys.js";
import { payers } from "../dist/postgres/tables/catalogs/catalogs.js";
import { listPatients } from "../dist/postgres/tables/patients/patients.js";
import { listResources } from "../dist/postgres/tables/resources/resources.js";
import { startServer } from "../dist/server.js";
import { cutPage } from "../dist/services/resources/pages.js";
import { readConfig } from "../dist/settings/config.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { TENANT_ID } from "./registration.mjs";

const PATIENTS = Number(process.env["BENCH_LIST_ROWS"] || 1_000_000);
const PAYERS = PATIENTS / 10;
const CALLS = 300;
const PATIENTS_PATH = "cupo.clinic.v1.PatientDirectoryService/ListPatients";
const PAYERS_PATH = "cupo.clinic.v1.CatalogAdminService/ListPayers";

const database = await openBenchDatabase(progress);
try {
  const server = await start();
  try {
    progress(`adding ${PATIENTS} patients and ${PAYERS} payers`);
    await fill();
    await measure(server.internalUrl);
    await explain();
  } finally {
    await server.close();
  }
} finally {
  await database.close();
}

function start() {
  const config = readConfig({
    CUPO_DATA_DIR: database.dataDir,
    PORT: "0",
    INTERNAL_PORT: "0",
    RATE_LIMIT_PER_MINUTE: "1000000000",
    RATE_LIMIT_PER_SECOND: "1000000000",
    CALLS_PER_PRINCIPAL: "1000000000",
    CALLS_PER_TENANT: "1000000000",
    HEAVY_CALLS: "1000000000",
    HEAVY_CALLS_PER_TENANT: "1000000000",
  });
  return startServer({ ...config, databaseUrl: database.url }, { logger: pino({ enabled: false }), now: Date.now });
}

async function fill() {
  await database.query(
    `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
       full_name, phone, email, status)
     SELECT '${TENANT_ID}', ${idOf("n")}, 'CC', n::text, 'CC', n::text, 'Ana María Pérez', '+57 300 555 0100',
       'ana.perez@example.com', CASE WHEN n % 100 = 0 THEN 'INACTIVE' ELSE 'ACTIVE' END
     FROM generate_series(1, ${PATIENTS}) AS n`,
  );
  await database.query(
    `INSERT INTO payers (tenant_id, id, code, name, tax_id, active, version, created_at, updated_at)
     SELECT '${TENANT_ID}', ${idOf("n")}, n::text, 'EPS Aurora', n::text, n % 100 <> 0, 1, now(), now()
     FROM generate_series(1, ${PAYERS}) AS n`,
  );
  await database.query("VACUUM ANALYZE patients, payers");
}

async function measure(internalUrl) {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  const scopes = ["patients:read", "patients:document:read", "configuration:read"];
  const token = await issuer.sign({ tenantId: TENANT_ID, client: "bench", scopes, expiresInSeconds: 3_600 });
  console.log(`${"a page of 50".padEnd(60)} ${"p50 ms".padStart(8)} ${"p99 ms".padStart(8)}`);
  for (const { label, path, request } of await pages()) {
    const times = await timesOf(`${internalUrl}/${path}`, token, request);
    const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)].toFixed(1));
    console.log(`${label.padEnd(60)} ${p50.padStart(8)} ${p99.padStart(8)}`);
  }
}

async function pages() {
  const active = { active: true };
  const middle = async (path, rows, list, filters) => ({ pageToken: await tokenAfter(rows / 2, path, list, filters) });
  return [
    { label: `${PATIENTS} patients, the first page`, path: PATIENTS_PATH, request: {} },
    {
      label: "one in the middle",
      path: PATIENTS_PATH,
      request: await middle(PATIENTS_PATH, PATIENTS, "patients", [undefined]),
    },
    { label: "of the 1 % that are INACTIVE, the first page", path: PATIENTS_PATH, request: { status: "INACTIVE" } },
    {
      label: "one in the middle",
      path: PATIENTS_PATH,
      request: { status: "INACTIVE", ...(await middle(PATIENTS_PATH, PATIENTS, "patients", ["INACTIVE"])) },
    },
    { label: "of those that are DECEASED: none", path: PATIENTS_PATH, request: { status: "DECEASED" } },
    { label: `${PAYERS} payers, the first page`, path: PAYERS_PATH, request: {} },
    { label: "one in the middle", path: PAYERS_PATH, request: await middle(PAYERS_PATH, PAYERS, payers.type, [{}]) },
    {
      label: "of those that are active, one in the middle",
      path: PAYERS_PATH,
      request: { ...active, ...(await middle(PAYERS_PATH, PAYERS, payers.type, [active])) },
    },
    { label: "of a code", path: PAYERS_PATH, request: { code: String(PAYERS / 2) } },
  ];
}

async function timesOf(url, token, request) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify(request);
  const times = [];
  for (let i = 0; i < CALLS; i += 1) {
    const startedAt = performance.now();
    const response = await fetch(url, { method: "POST", headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`a list was answered ${response.status}: ${text}`);
    if (i >= CALLS / 3) times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b);
}

/** As the role that row-level security binds, like the service. */
async function explain() {
  const pageAfter = (n) => ({ afterId: numbered(n), limit: 51 });
  const principal = { tenantId: TENANT_ID };
  const statements = [];
  const transaction = { tenantId: TENANT_ID, rows: async (statement) => (statements.push(statement), []) };
  await listPatients(transaction, { status: undefined }, pageAfter(PATIENTS / 2));
  await listPatients(transaction, { status: "INACTIVE" }, pageAfter(PATIENTS / 2));
  await listResources(transaction, principal, payers, { ...pageAfter(PAYERS / 2), filter: { active: false } });
  const client = new Client(database.url);
  await client.connect();
  try {
    await client.query(`SET cupo.tenant_id = '${TENANT_ID}'`);
    for (const statement of statements) await printPlan(client, statement);
  } finally {
    await client.end();
  }
}

async function printPlan(client, statement) {
  const { sql, bindings } = statement.toSQL().toNative();
  const text = sql.replace(/\$(\d+)/g, (_, n) => literal(bindings[n - 1]));
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS) ${text}`);
  console.log(`\n${text}\n${rows.map((row) => `  ${row["QUERY PLAN"]}`).join("\n")}`);
}

function literal(value) {
  return value === null ? "NULL" : typeof value === "number" ? String(value) : escapeLiteral(String(value));
}

/** What the service would give after the n-th row; pages cannot be skipped, and the way there is long. */
async function tokenAfter(n, operation, list, filters) {
  const rows = [{ id: numbered(n) }, { id: randomUUID() }];
  const { nextPageToken } = cutPage(rows, { size: 1, after: undefined }, ({ id }) => [id], list, filters).next;
  const pool = new Pool({ connectionString: database.url });
  try {
    const keyRing = await openKeyRing({ store: optionTokenKeys({ pool }), now: Date.now });
    return await createPageTokens(keyRing).seal(nextPageToken, [operation, TENANT_ID, "", ""].join(" "));
  } finally {
    await pool.end();
  }
}

function idOf(number) {
  return `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
}

function numbered(n) {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

function progress(text) {
  console.error(text);
}
