import { randomUUID } from "node:crypto";
import { Client, escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal, Statement, Transaction } from "../../src/call.js";
import { listCases } from "../../src/postgres/tables/desk/user-attention-cases.js";
import { listWaitlistEntries } from "../../src/postgres/tables/desk/waitlist.js";
import { listAccessRecords, listConsents } from "../../src/postgres/tables/patients/patient-evidence.js";
import { listPatients } from "../../src/postgres/tables/patients/patients.js";
import { listResources } from "../../src/postgres/tables/resources/resources.js";
import { listHolidays } from "../../src/postgres/tables/schedule/holidays.js";
import { programs } from "../../src/postgres/tables/schedule/programs.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

/**
 * Number of patients. There are half as many records of each other type, and a tenth as many programs.
 * TEST_LIST_ROWS=1000000 is the size that the service is designed for.
 */
const ROWS = Number(process.env["TEST_LIST_ROWS"] || 50_000);
const NEIGHBOURS = ROWS / 10;
const SERVICES = 20;
const HOLIDAYS = 3_000;
const PROGRAMS = Math.max(10_000, ROWS / 10);
/** The default page size, and one row to detect a next page. */
const LIMIT = 51;
/** A block of the table and one of an index per row, and the inner pages of indexes. A sequential scan reads more. */
const MAX_BLOCKS = 3 * LIMIT;
/** The rows of the page, and neighbouring rows that a second filter excludes. */
const MAX_ROWS = 10 * LIMIT;
const FILL_TIMEOUT_MS = 60_000 + ROWS / 5;

/** Row n of a tenant has the n-th id, so ids have the order of creation. */
const patientId = numbered(ROWS / 2);
const serviceId = numbered(7);
const locationId = numbered(9);
const tenantId = randomUUID();

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  for (const [tenant, rows] of [
    [randomUUID(), NEIGHBOURS],
    [tenantId, ROWS],
  ] as const) {
    await client.query(`SET cupo.tenant_id = '${tenant}'`);
    for (const statement of fillStatements(tenant, rows)) await client.query(statement);
  }
  await execute(database.ownerUrl, "ANALYZE");
}, FILL_TIMEOUT_MS);

afterAll(async () => {
  await client.end();
  await database.drop();
});

const pages = { "the first page": undefined, "one in the middle": numbered(ROWS / 4), "the last": numbered(ROWS) };

describe.each(Object.entries(pages))(`among ${ROWS} patients and their records, %s`, (_, afterId) => {
  const page = { afterId, limit: LIMIT };

  test.each([undefined, "ACTIVE", "INACTIVE", "DECEASED"])("of patients, status %s, reads few blocks", (status) =>
    expectFewBlocks((transaction) => listPatients(transaction, { status }, page)),
  );
});

describe.each([
  ["the first page", undefined],
  ["one in the middle", ROWS / 4],
  ["the last", ROWS],
])(`among ${ROWS / 2} records of the desk, %s`, (_, n) => {
  const page = { after: n === undefined ? undefined : { createdAt: recordedAt(n), id: numbered(n) }, limit: LIMIT };
  const span = { createdFrom: recordedAt(ROWS / 5), createdTo: recordedAt(ROWS / 3) };
  const anyTime = { createdFrom: undefined, createdTo: undefined, patientId: undefined };

  test.each([
    {},
    { statuses: ["ACTIVE"] },
    { statuses: ["CLOSED"] },
    { patientId },
    { serviceId },
    { serviceId, statuses: ["ACTIVE"] },
    { serviceId, statuses: ["CLOSED"], ...span },
    { locationId },
    { locationId, statuses: ["ACTIVE"], ...span },
    { practitionerId: locationId },
    { practitionerId: locationId, statuses: ["CLOSED"] },
    { patientId, serviceId, statuses: ["ACTIVE"] },
    span,
  ] as const)("of the waitlist, %o, reads few blocks", (filter) => {
    const all = { statuses: ["ACTIVE", "CLOSED"], serviceId: undefined, locationId: undefined } as const;
    const wanted = {
      ...anyTime,
      ...all,
      practitionerId: undefined,
      serviceIds: [],
      locationIds: [],
      practitionerIds: [],
      ...filter,
    };
    return expectFewBlocks((transaction) => listWaitlistEntries(transaction, wanted, page));
  });

  test.each([
    {},
    { statuses: ["RECEIVED"] },
    { statuses: ["OPEN"] },
    { statuses: ["CLOSED"] },
    { statuses: ["RECEIVED", "OPEN"] },
    { statuses: ["OPEN", "CLOSED"] },
    { statuses: ["OPEN"], ...span },
    { patientId },
    { patientId, statuses: ["CLOSED"] },
    span,
  ] as const)("of the cases, %o, reads few blocks", (filter) => {
    const wanted = { ...anyTime, statuses: ["RECEIVED", "OPEN", "CLOSED"] as const, ...filter };
    return expectFewBlocks((transaction) => listCases(transaction, wanted, page));
  });
});

describe("of a patient with many records,", () => {
  const pagesOfPatient = [undefined, numbered(ROWS / 4 - 1)];

  test.each(pagesOfPatient)("a page of consents reads few blocks, after %s", (afterId) =>
    expectFewBlocks((transaction) => listConsents(transaction, patientId, { afterId, limit: LIMIT })),
  );

  test.each(pagesOfPatient)("a page of access records reads few blocks, after %s", (afterId) =>
    expectFewBlocks((transaction) => listAccessRecords(transaction, patientId, { afterId, limit: LIMIT })),
  );
});

test.each([
  {},
  { active: true },
  { dateFrom: "2003-01-01" },
  { dateFrom: "2003-01-01", dateTo: "2003-12-31", active: true },
])(`a page among ${HOLIDAYS} holidays, %o, reads few blocks`, async (filter) => {
  const wanted = { dateFrom: undefined, dateTo: undefined, active: undefined, ...filter };
  for (const afterDate of [undefined, "2003-06-01"]) {
    await expectFewBlocks((transaction) => listHolidays(transaction, wanted, { afterDate, limit: LIMIT }));
  }
});

describe.each([
  ["everybody's", {}],
  ["of an organization with few", { organizationId: serviceId }],
])("a page of programs, %s,", (_, claims) => {
  test.each([
    {},
    { active: true },
    { active: false },
    { code: "77" },
    { code: "none" },
    { locationId: numbered(1) },
    { emergency: true },
    { emergency: false },
    { emergency: true, active: true },
    { emergency: true, active: false },
    { emergency: false, active: true },
    { emergency: false, active: false },
    { locationId: numbered(1), active: false },
    { locationId: numbered(1), emergency: true },
    { locationId: numbered(1), emergency: true, active: true },
    { code: "77", locationId: numbered(1), emergency: true, active: true },
  ])("%o, reads few blocks", async (filter) => {
    for (const afterId of [undefined, numbered(PROGRAMS / 2)]) {
      const page = { afterId, limit: LIMIT, filter };
      await expectFewBlocks((transaction) => listResources(transaction, principal(claims), programs, page));
    }
  });
});

test("a list without its index is detected", async () => {
  const lists = (transaction: Transaction) => listPatients(transaction, { status: "INACTIVE" }, firstPage);
  const firstPage = { afterId: undefined, limit: LIMIT };
  const definition = "SELECT indexdef FROM pg_indexes WHERE indexname = 'patients_status_idx'";
  const [made] = await execute(database.ownerUrl, definition);
  await execute(database.ownerUrl, "DROP INDEX patients_status_idx");
  try {
    await expect(expectFewBlocks(lists)).rejects.toThrow();
  } finally {
    await execute(database.ownerUrl, String(made?.["indexdef"]));
  }
  await expectFewBlocks(lists);
});

/**
 * Returns the statements that fill a tenant. One in 100 patients is not ACTIVE, and none is DECEASED. Nine in ten
 * entries and cases are closed; one in ten of the other cases is OPEN. Entries with a location or practitioner are
 * spread over twenty. Every second consent and access record is about one patient.
 */
function fillStatements(tenant: string, rows: number): string[] {
  const id = "('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid";
  const of = (number: string) => id.replace("n::text", `(${number})::text`);
  const from = (count: number) => `FROM generate_series(1, ${count}) AS n`;
  const head = `SELECT '${tenant}', ${id}`;
  const closure = (at: string) => `CASE WHEN n % 10 > 0 THEN ${at} END`;
  const closed = `${closure("now()")}, ${closure("'desk'")}, ${closure("'done'")}`;
  const recorded = `'${recordedAt(0).toISOString()}'::timestamptz + n * interval '1 s'`;
  const preferred = (one: number) => `CASE WHEN n % ${one} = 0 THEN ${of(`n % ${SERVICES} + 1`)} END`;
  const aboutPatient = `CASE WHEN n % 2 = 0 THEN ${of(String(rows / 2))} ELSE ${id} END`;
  return [
    `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
       full_name, phone, email, status)
     ${head}, 'CC', n::text, 'CC', n::text, 'Ana María Pérez', '+57 300 555 0100', 'ana.perez@example.com',
       CASE WHEN n % 100 = 0 THEN 'INACTIVE' ELSE 'ACTIVE' END ${from(rows)}`,
    `INSERT INTO healthcare_services (tenant_id, id, code, name, active, version, created_at, updated_at)
     ${head}, n::text, 'Medicina general', true, 1, now(), now() ${from(SERVICES)}`,
    `INSERT INTO locations (tenant_id, id, code, name, active, version, created_at, updated_at)
     ${head}, n::text, 'Sede', true, 1, now(), now() ${from(SERVICES)}`,
    `INSERT INTO practitioners (tenant_id, id, code, full_name, active, version, created_at, updated_at)
     ${head}, n::text, 'Luz Gómez', true, 1, now(), now() ${from(SERVICES)}`,
    `INSERT INTO waitlist_entries (tenant_id, id, patient_id, service_id, location_id, practitioner_id, date_from, date_to,
       preferred_periods, status, created_at, closed_at, closed_by, close_reason)
     ${head}, ${of("n / 2 + 1")}, ${of(`n % ${SERVICES} + 1`)}, ${preferred(3)}, ${preferred(7)}, '2026-01-01',
       '2026-02-01', '{MORNING}', 'ACTIVE', ${recorded}, ${closed} ${from(rows / 2)}`,
    `INSERT INTO user_attention_cases (tenant_id, id, category, external_reference, description, patient_id, status,
       created_at, closed_at, closed_by, close_reason)
     ${head}, 'COMPLAINT', n::text, 'La espera fue larga.', ${of("n / 2 + 1")},
       CASE WHEN n % 100 = 0 THEN 'OPEN' ELSE 'RECEIVED' END, ${recorded}, ${closed} ${from(rows / 2)}`,
    `INSERT INTO patient_consents (tenant_id, id, patient_id, granted_at, recorded_at, principal, correlation_id)
     ${head}, ${aboutPatient}, now(), now() + n * interval '1 s', 'issuer client', ${id} ${from(rows / 2)}`,
    `INSERT INTO patient_access_records (tenant_id, id, patient_id, operation, principal, correlation_id, accessed_at)
     ${head}, ${aboutPatient}, 'Service/Method', 'issuer client', ${id}, now() + n * interval '1 s' ${from(rows / 2)}`,
    `INSERT INTO programs (tenant_id, id, organization_id, code, name, emergency, location_id, active, version,
       created_at, updated_at)
     ${head}, CASE WHEN n % 100 = 50 THEN '${serviceId}'::uuid END, n::text, 'Programa', n % 100 = 0,
       ${of(`n % ${SERVICES} + 1`)}, n % 100 <> 1, 1, now(), now() ${from(PROGRAMS)}`,
    `INSERT INTO holidays (tenant_id, id, date, name, active, version, created_at, updated_at)
     ${head}, '2000-01-01'::date + n, 'Festivo', true, 1, now(), now() ${from(HOLIDAYS)}`,
  ];
}

/** Returns when the n-th record of the desk was created. */
function recordedAt(n: number): Date {
  return new Date(Date.UTC(2026, 0, 1) + n * 1_000);
}

/** Returns the n-th id of a tenant's rows. */
function numbered(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

function principal({ organizationId }: { readonly organizationId?: string }): Principal {
  const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
  return { ...caller, tenantId, organizationId, companyId: undefined };
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** Requires that a list uses an index and reads few blocks, with a custom and with a generic plan. */
async function expectFewBlocks(list: (transaction: Transaction) => Promise<unknown>): Promise<void> {
  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    const plans: PlanNode[] = [];
    await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
    try {
      await list({
        tenantId,
        send: (statement) => void client.query(statement.toSQL().toNative().sql),
        require: () => expect.unreachable("a list only reads"),
        rows: async (statement) => {
          plans.push(await explain(statement));
          return [];
        },
      });
    } finally {
      await client.query("ROLLBACK");
    }
    expect(plans).toHaveLength(1);
    for (const plan of plans) {
      expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], mode).toBeLessThanOrEqual(MAX_BLOCKS);
      const nodes = withChildren(plan);
      expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      expect(Math.max(...nodes.map(rowsRead)), mode).toBeLessThanOrEqual(MAX_ROWS);
    }
  }
}

async function explain(statement: Statement): Promise<PlanNode> {
  const { sql, bindings } = statement.toSQL().toNative();
  const values = (bindings as unknown[] as Binding[]).map(literal);
  await client.query(`PREPARE page AS ${sql}`);
  try {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page (${values.join(", ")})`);
    return rows[0]["QUERY PLAN"][0].Plan;
  } finally {
    await client.query("DEALLOCATE page");
  }
}

type Binding = string | number | boolean | Date | null;

function literal(value: Binding): string {
  if (value instanceof Date) return escapeLiteral(value.toISOString());
  return value === null ? "NULL" : escapeLiteral(String(value));
}

function withChildren(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withChildren)];
}

function rowsRead(node: PlanNode): number {
  return (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
}
