import { randomUUID } from "node:crypto";
import knex from "knex";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Statement, Transaction } from "../../src/call.js";
import { fillSearchWords } from "../../src/postgres/search/fill-search-words.js";
import { findEndOfScan, findPatients, rarestBeginning } from "../../src/postgres/tables/patients/patient-search.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

const PATIENTS = 12_000;
const [tenantId, neighbourId] = [randomUUID(), randomUUID()];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  for (const [tenant, count] of [
    [tenantId, PATIENTS],
    [neighbourId, 10],
  ] as const) {
    await execute(
      database.adminUrl,
      `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key, full_name,
         phone)
       SELECT '${tenant}', gen_random_uuid(), 'CC', n::text, 'CC', n::text, 'Íñigo Ñúñez ' || chr(65 + n % 26), '+57 300 ' || n
       FROM generate_series(10001, 10000 + ${count}) AS n`,
    );
  }
  const owner = knex({ client: "pg", connection: database.ownerUrl });
  await owner.transaction(fillSearchWords);
  await owner.destroy();
  await execute(database.ownerUrl, "ANALYZE");
});

afterAll(() => database.drop());

test("a migration adds the search words of all tenants' patients", async () => {
  const [patient] = await execute(
    database.adminUrl,
    `SELECT search_words, ARRAY(SELECT word FROM patient_search_words w WHERE w.patient_id = p.id ORDER BY word) AS words
     FROM patients p WHERE tenant_id = '${neighbourId}' AND document_number = '10001'`,
  );
  const words = ["#1000100375", "$10001", "INIGO", "NUNEZ", "R"];
  expect(patient).toEqual({ search_words: ["INIGO", "NUNEZ", "R", "#1000100375", "$10001"], words });
  const counts = "SELECT count(DISTINCT (tenant_id, patient_id))::int AS patients, count(*)::int AS words";
  expect(await execute(database.adminUrl, `${counts} FROM patient_search_words`)).toEqual([
    { patients: PATIENTS + 10, words: 5 * (PATIENTS + 10) },
  ]);
});

test("row-level security is forced again after it", async () => {
  const forced = `SELECT relforcerowsecurity AS forced FROM pg_class WHERE relname IN ('patients', 'patient_search_words')`;
  expect(await execute(database.ownerUrl, forced)).toEqual([{ forced: true }, { forced: true }]);
});

test("no search scans a table under row-level security, with a custom or a generic plan", async () => {
  const client = new Client(database.url);
  await client.connect();
  try {
    await client.query(`SET cupo.tenant_id = '${tenantId}'`);
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      const plans = await plansOfSearch(client);
      expect(plans).toHaveLength(3);
      for (const plan of plans) {
        expect(plan, mode).not.toContain("Seq Scan");
        expect(plan, mode).toMatch(/patient_search_words_pkey[\s\S]*Index Cond: .*word/);
      }
    }
  } finally {
    await client.end();
  }
});

test("a search looks up the beginning of the fewest words, and the longer one of equally frequent beginnings", async () => {
  const client = new Client(database.url);
  await client.connect();
  try {
    await client.query(`SET cupo.tenant_id = '${tenantId}'`);
    const rows = async (statement: Statement) => {
      const { sql, bindings } = statement.toSQL().toNative();
      return (await client.query(sql, [...bindings])).rows;
    };
    const rarest = (...beginnings: string[]) => rarestBeginning({ ...searching, rows }, beginnings);
    expect(await rarest("INI", "R")).toBe("R");
    expect(await rarest("INIGO", "$1000")).toBe("$1000");
    expect(await rarest("IN", "INIG", "NUN")).toBe("INIG");
  } finally {
    await client.end();
  }
});

test("a search for one beginning counts no words", async () => {
  const rows = () => expect.unreachable("there is nothing to compare");
  expect(await rarestBeginning({ ...searching, rows }, ["INI"])).toBe("INI");
});

const searching = {
  tenantId,
  send: () => expect.unreachable("a search only reads"),
  require: () => expect.unreachable("a search only reads"),
};

async function plansOfSearch(client: Client): Promise<string[]> {
  const plans: string[] = [];
  const transaction: Transaction = {
    ...searching,
    rows: async <Row>(statement: Statement) => {
      plans.push(await explain(client, statement));
      return [{} as Row];
    },
  };
  const search = { leading: "INI", beginnings: ["INI", "NUNEZ"], status: undefined };
  await rarestBeginning(transaction, search.beginnings);
  await findPatients(transaction, search, { after: undefined, limit: 51 });
  await findEndOfScan(transaction, search, { word: "INIGO", id: randomUUID() });
  return plans;
}

async function explain(client: Client, statement: Statement): Promise<string> {
  const { sql, bindings } = statement.toSQL().toNative();
  await client.query(`PREPARE search AS ${sql}`);
  const values = bindings.map(literal).join();
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (VERBOSE) EXECUTE search (${values})`);
  await client.query("DEALLOCATE search");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

function literal(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `'{${value.join()}}'`;
  return typeof value === "string" ? `'${value}'` : "NULL";
}
