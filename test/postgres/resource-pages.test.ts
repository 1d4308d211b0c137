import { randomUUID } from "node:crypto";
import { Client, escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal, Statement, Transaction } from "../../src/call.js";
import { contracts } from "../../src/postgres/catalogs.js";
import { locations } from "../../src/postgres/reference-data.js";
import { listResources } from "../../src/postgres/resources.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";

const ROWS = 100_000;
const ORGANIZATIONS = 1_000;
const PAYERS = 100;
const PAGE = 51;
/** What a page may cost: its own rows, those of a small organization, or the neighbours that a filter leaves out. */
const MAX_ROWS_READ = 1_000;

const tenantId = randomUUID();
/** Numbered ids, so that rows can be spread over them. */
const organizationId = "00000000-0000-4000-8000-000000000007";
const payerId = "11111111-0000-4000-8000-000000000007";

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

describe(`a page of ${ROWS} resources reads few rows and scans no table`, () => {
  const middle = "80000000-0000-4000-8000-000000000000";

  test.each([
    ["of all", {}],
    ["of those that are active", { active: true }],
    ["of the few that are not", { active: false }],
    ["of a code", { code: "L 500" }],
    ["of a code that is not there", { code: "none", active: true }],
  ])("%s", async (_, filter) => {
    for (const afterId of [undefined, middle]) {
      const page = { afterId, limit: PAGE, filter };
      await expectCheap((transaction) => listResources(transaction, principal({}), locations, page));
    }
  });

  test.each([
    ["of an organization", {}],
    ["of an organization and active", { active: true }],
    ["of an organization and not active", { active: false }],
    ["of an organization and a payer", { payerId }],
    ["of an organization, a payer and not active", { payerId, active: false }],
    ["of an organization and a code", { code: "C 507" }],
  ])("%s, where others own nearly all", async (_, filter) => {
    for (const afterId of [undefined, middle]) {
      const page = { afterId, limit: PAGE, filter };
      for (const claims of [{}, { organizationId }, { organizationId, companyId: randomUUID() }]) {
        await expectCheap((transaction) => listResources(transaction, principal(claims), contracts, page));
      }
    }
  });
});

/** Locations that everybody sees, and contracts spread over organizations and payers; one in 1,000 is not active. */
async function fill(): Promise<void> {
  const columns = "tenant_id, active, version, created_at, updated_at, id, code, name";
  const head = `'${tenantId}', n % 1000 <> 500, 1, now(), now()`;
  const rows = (count: number) => `FROM generate_series(1, ${count}) AS n`;
  const numbered = (prefix: string, number: string) =>
    `('${prefix}-0000-4000-8000-' || lpad(${number}, 12, '0'))::uuid`;
  const organization = numbered("00000000", `(n % ${ORGANIZATIONS})::text`);
  for (const statement of [
    `INSERT INTO locations (${columns})
     SELECT ${head}, gen_random_uuid(), 'L ' || n, 'Sede' ${rows(ROWS)}`,
    `INSERT INTO payers (${columns}, tax_id)
     SELECT ${head}, ${numbered("11111111", "n::text")}, 'P ' || n, 'EPS', '1' ${rows(PAYERS)}`,
    `INSERT INTO contracts (${columns}, organization_id, payer_id, valid_from, valid_to)
     SELECT ${head}, gen_random_uuid(), 'C ' || n, 'Convenio', ${organization},
       ${numbered("11111111", `(n % ${PAYERS} + 1)::text`)}, '2026-01-01', '2026-12-31' ${rows(ROWS)}`,
    "ANALYZE locations, payers, contracts",
  ]) {
    await client.query(statement);
  }
}

/** Requires the statement to keep to indexes, with the plan that the server settles on after it has run often. */
async function expectCheap(list: (transaction: Transaction) => Promise<unknown>): Promise<void> {
  const nodes = await plan(list);
  expect(nodes.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
  const read = nodes.filter((node) => node.Plans === undefined).map(rowsRead);
  expect(read.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_ROWS_READ);
}

/** A node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) gives it. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

async function plan(list: (transaction: Transaction) => Promise<unknown>): Promise<PlanNode[]> {
  const nodes: PlanNode[] = [];
  await list({
    tenantId,
    send: () => expect.unreachable("a list only reads"),
    rows: async (statement) => {
      nodes.push(...(await explain(statement)));
      return [];
    },
  });
  return nodes;
}

async function explain(statement: Statement): Promise<PlanNode[]> {
  const { sql, bindings } = statement.toSQL().toNative();
  const values = bindings.map((value) => (value === null ? "NULL" : escapeLiteral(String(value))));
  const execute = `EXECUTE page (${values.join(", ")})`;
  await client.query(`PREPARE page AS ${sql}`);
  for (let i = 0; i < 6; i++) await client.query(execute);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`);
  await client.query("DEALLOCATE page");
  return withChildren(rows[0]["QUERY PLAN"][0].Plan);
}

function withChildren(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(withChildren)];
}

function rowsRead(node: PlanNode): number {
  return (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
}

function principal(claims: { readonly organizationId?: string; readonly companyId?: string }): Principal {
  return {
    ...{ id: "issuer client", issuer: "issuer", clientId: "client", tenantId, scopes: new Set<string>() },
    ...{ organizationId: claims.organizationId, companyId: claims.companyId },
  };
}
