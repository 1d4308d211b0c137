import { randomUUID } from "node:crypto";
import { Client, escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal, Statement } from "../../src/call.js";
import * as catalogs from "../../src/postgres/tables/catalogs/catalogs.js";
import * as referenceData from "../../src/postgres/tables/catalogs/reference-data.js";
import { listResources, type ResourceTable } from "../../src/postgres/tables/resources/resources.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

const ROWS = 100_000;
const ORGANIZATIONS = 1_000;
const PAYERS = 100;
/** The default page size, and one row to detect a next page. */
const LIMIT = 51;
/** About a block per row of a page, or per row of a small organization or rare value. */
const MAX_BLOCKS = 300;
/** PostgreSQL plans a prepared statement five times before it may keep a generic plan. */
const RUNS_BEFORE_PLAN_IS_KEPT = 6;

type Claims = Partial<Pick<Principal, "organizationId" | "companyId">>;

const tenantId = randomUUID();
/** Numbered ids, over which rows are spread. */
const organizationId = "00000000-0000-4000-8000-000000000007";
const payerId = "11111111-0000-4000-8000-000000000007";
const inTheMiddle = "80000000-0000-4000-8000-000000000000";

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  await fill();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe.each<[string, Claims]>([
  ["without organization", {}],
  ["of an organization", { organizationId }],
  ["of a company in an organization", { organizationId, companyId: randomUUID() }],
])("for a token %s a page reads few blocks, by indexes,", (_, claims) => {
  test.each<[string, Partial<catalogs.ContractAttributes>]>([
    ["all", {}],
    ["active ones", { active: true }],
    ["the few inactive ones", { active: false }],
    ["a code", { code: "C 507" }],
    ["an unused code", { code: "none", active: true }],
    ["a payer", { payerId }],
    ["a payer, active ones", { payerId, active: true }],
    ["a payer, inactive ones", { payerId, active: false }],
  ])(`of ${ROWS} contracts visible to all: %s`, async (_name, filter) => {
    await expectCheapPages(catalogs.contracts, claims, filter);
  });

  test.each<[string, Partial<referenceData.LocationAttributes>]>([
    ["all", {}],
    ["active ones", { active: true }],
    ["the few inactive ones", { active: false }],
    ["a code", { code: "L 507" }],
  ])(`of ${ROWS} locations, nearly all of other organizations: %s`, async (_name, filter) => {
    await expectCheapPages(referenceData.locations, claims, filter);
  });
});

test("the tables of all resources have the same indexes", async () => {
  const { rows } = await client.query<{ indexdef: string }>(
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
  );
  const indexes = new Set(rows.map(({ indexdef }) => indexdef.replace(/^.* ON public\./, "")));
  const tables = [...Object.values(catalogs), ...Object.values(referenceData)];
  expect(tables).toHaveLength(11);
  for (const { name } of tables) {
    expect(indexes).toContain(`${name} USING btree (tenant_id, active, id)`);
    expect(indexes).toContain(`${name} USING btree (tenant_id, code, id)`);
    const unique = `${name} USING btree (tenant_id, organization_id, company_id, code) NULLS NOT DISTINCT`;
    expect(indexes).toContain(unique);
  }
});

/** Creates contracts visible to all, and locations spread over organizations. One in 1,000 is inactive. */
async function fill(): Promise<void> {
  const columns = "tenant_id, active, version, created_at, updated_at, id, code, name";
  const head = `'${tenantId}', n % 1000 <> 507, 1, now(), now()`;
  for (const statement of [
    `INSERT INTO payers (${columns}, tax_id)
     SELECT ${head}, ${numbered(payerId, "n")}, 'P ' || n, 'EPS', '1' FROM generate_series(1, ${PAYERS}) AS n`,
    `INSERT INTO contracts (${columns}, payer_id, valid_from, valid_to)
     SELECT ${head}, gen_random_uuid(), 'C ' || n, 'Convenio', ${numbered(payerId, `n % ${PAYERS} + 1`)},
       '2026-01-01', '2026-12-31' FROM generate_series(1, ${ROWS}) AS n`,
    `INSERT INTO locations (${columns}, organization_id)
     SELECT ${head}, gen_random_uuid(), 'L ' || n, 'Sede', ${numbered(organizationId, `n % ${ORGANIZATIONS}`)}
     FROM generate_series(1, ${ROWS}) AS n`,
  ]) {
    await client.query(statement);
  }
  await execute(database.ownerUrl, "ANALYZE payers, contracts, locations");
}

/** Returns SQL for an id like this one, with a number as its last group. */
function numbered(id: string, number: string): string {
  return `('${id.slice(0, -12)}' || lpad((${number})::text, 12, '0'))::uuid`;
}

async function expectCheapPages<A extends object>(
  table: ResourceTable<A>,
  claims: Claims,
  filter: Partial<A>,
): Promise<void> {
  for (const afterId of [undefined, inTheMiddle]) {
    const statement = await statementOf(table, claims, { afterId, limit: LIMIT, filter });
    const [root, ...nodes] = await explain(statement);
    expect(nodes.map((node) => node["Node Type"])).not.toContain("Seq Scan");
    expect(blocksOf(root)).toBeLessThanOrEqual(MAX_BLOCKS);
  }
}

type SentText = ReturnType<ReturnType<Statement["toSQL"]>["toNative"]>;

/** Lists a page from a transaction without rows. Returns the statement that would read it. */
async function statementOf<A extends object>(
  table: ResourceTable<A>,
  { organizationId: organization, companyId }: Claims,
  page: Parameters<typeof listResources<A>>[3],
): Promise<SentText> {
  const sent: SentText[] = [];
  const send = (statement: Statement) => void sent.push(statement.toSQL().toNative());
  const rows = (statement: Statement) => Promise.resolve(send(statement)).then(() => []);
  const who = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
  const principal = { ...who, tenantId, organizationId: organization, companyId };
  await listResources(
    { tenantId, rows, send, require: () => expect.unreachable("a list only reads") },
    principal,
    table,
    page,
  );
  const [statement] = sent;
  if (statement === undefined) throw new Error("the list sent no statement");
  return statement;
}

/** A node of a plan, in the format of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON). */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the plan nodes of a statement that has been executed often, the root first. */
async function explain({ sql, bindings }: SentText): Promise<PlanNode[]> {
  const values = bindings.map((value) => (value === null ? "NULL" : escapeLiteral(`${value as string | number}`)));
  const execution = `EXECUTE page (${values.join(", ")})`;
  await client.query(`PREPARE page AS ${sql}`);
  for (let i = 0; i < RUNS_BEFORE_PLAN_IS_KEPT; i++) await client.query(execution);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${execution}`);
  await client.query("DEALLOCATE page");
  return withChildren(rows[0]["QUERY PLAN"][0].Plan);
}

function withChildren(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withChildren)];
}

function blocksOf(node: PlanNode | undefined): number {
  if (node === undefined) throw new Error("there is no plan");
  return node["Shared Hit Blocks"] + node["Shared Read Blocks"];
}
