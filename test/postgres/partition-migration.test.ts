import { readFile } from "node:fs/promises";
import knex from "knex";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { knownMigrations, MIGRATIONS_FOLDER } from "../../src/postgres/migration/known-migrations.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { cloneDatabase, createEmptyDatabase, execute, type TestDatabase } from "../support/database.js";
import { idAt, PARTED, TENANT } from "./partitions-under-test.js";

/** The last migration before the partitions. */
const BEFORE = "0023-cases-by-appointment";
const YEAR_MS = 365 * 86_400_000;
const AS_TENANT = `SET cupo.tenant_id = '${TENANT}'`;

/** A database migrated up to there, with the rights that the service had then. */
let former: TestDatabase;
let database: TestDatabase;
/** The database's current time. */
let now: Date;

beforeAll(async () => {
  former = await createEmptyDatabase();
  await migrateToBefore();
  const rights = PARTED.map((table) => `GRANT SELECT, INSERT ON ${table} TO ${serviceName()}`);
  const emptying = `GRANT UPDATE (comment, correction_reason) ON appointment_history TO ${serviceName()}`;
  await execute(former.ownerUrl, ...rights, emptying);
});

afterAll(() => former.drop());

beforeEach(async () => {
  database = await cloneDatabase(former);
  const [row] = await execute(database.ownerUrl, "SELECT now() AS now");
  now = row?.["now"] as Date;
});

afterEach(() => database.drop());

describe("tables with rows", () => {
  test("become their own first partitions without rewriting a row", async () => {
    const ids = [idAt(new Date(0)), idAt(ago(5)), idAt(now)];
    await fill(ids);
    const files = await Promise.all(PARTED.map((table) => fileOf(table)));
    await migrate({ url: database.ownerUrl });
    expect(await Promise.all(PARTED.map((table) => fileOf(`${table}_first`)))).toEqual(files);
    for (const table of PARTED) {
      expect(await placesOf(table)).toEqual({ [`${table}_first`]: ids.length });
      expect(await execute(database.url, AS_TENANT, `SELECT FROM ${table}`)).toHaveLength(ids.length);
    }
  });

  test("keep rows from a clock that ran ahead, in the default partition", async () => {
    await fill([idAt(ago(1)), idAt(ago(-1)), idAt(ago(-40))]);
    await migrate({ url: database.ownerUrl });
    for (const table of PARTED) {
      expect(await placesOf(table)).toEqual({ [`${table}_first`]: 1, [`${table}_rest`]: 2 });
      expect(await execute(database.url, AS_TENANT, `SELECT FROM ${table}`)).toHaveLength(3);
    }
  });

  test("keep their rights, row-level security and the prepared statements of the former release", async () => {
    const caller = new Client(database.url);
    await caller.connect();
    try {
      await caller.query(AS_TENANT);
      const count = { name: "count", text: "SELECT count(*)::int AS rows FROM audit_events" };
      const append = { name: "append", text: insertsOf([idAt(now)]).audit_events };
      const empty = { name: "empty", text: "UPDATE appointment_history SET comment = NULL" };
      for (const statement of [count, append, empty]) await caller.query(statement);
      await execute(database.adminUrl, "DELETE FROM audit_events");
      await migrate({ url: database.ownerUrl });
      for (const statement of [append, empty]) await caller.query(statement);
      expect((await caller.query(count)).rows).toEqual([{ rows: 1 }]);
      await expect(caller.query("DELETE FROM audit_events")).rejects.toMatchObject({ code: "42501" });
      const foreign = insertsOf([idAt(ago(1))]).audit_events.replaceAll(TENANT, idAt(now));
      await expect(caller.query(foreign)).rejects.toThrow("row-level security");
      await expect(caller.query("SELECT FROM audit_events_first")).rejects.toMatchObject({ code: "42501" });
    } finally {
      await caller.end();
    }
  });
});

test("a failed migration keeps the earlier ones, and the next run continues after them", async () => {
  await execute(database.ownerUrl, "CREATE TABLE patient_access_records_first ()");
  await expect(migrate({ url: database.ownerUrl })).rejects.toThrow("already exists");
  const applied = "SELECT max(name) AS last FROM schema_migrations";
  expect(await execute(database.ownerUrl, applied)).toEqual([{ last: "0029-audit-partitioned" }]);
  await fill([idAt(now)]);
  await execute(database.ownerUrl, "DROP TABLE patient_access_records_first");
  await migrate({ url: database.ownerUrl });
  for (const table of PARTED) expect(await placesOf(table)).toEqual({ [`${table}_first`]: 1 });
});

async function migrateToBefore(): Promise<void> {
  const names = (await knownMigrations()).filter((name) => name <= BEFORE);
  const migrationSource = {
    getMigrations: async () => names,
    getMigrationName: (name: string) => name,
    getMigration: async (name: string) => {
      const text = await readFile(new URL(`${name}.sql`, MIGRATIONS_FOLDER), "utf8");
      return { up: (trx: knex.Knex) => trx.raw(text), down: async () => undefined };
    },
  };
  const owner = knex({ client: "pg", connection: former.ownerUrl });
  try {
    await owner.migrate.latest({ migrationSource, tableName: "schema_migrations" });
  } finally {
    await owner.destroy();
  }
}

function ago(years: number): Date {
  return new Date(now.getTime() - years * YEAR_MS);
}

async function fill(ids: readonly string[]): Promise<void> {
  const replica = "SET session_replication_role = replica";
  await execute(database.adminUrl, replica, ...Object.values(insertsOf(ids)));
}

/**
 * Returns statements that add a row to each table per id, ignoring foreign keys. Adds an appointment too, which the
 * history refers to.
 */
function insertsOf(ids: readonly string[]) {
  const from = `FROM unnest(ARRAY['${ids.join("', '")}']::uuid[]) AS one (id)`;
  return {
    appointments: `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at,
         ends_at, status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id)
       SELECT '${TENANT}', id, id, id, id, id, id, now(), now() + interval '1 hour', 'CANCELLED', 1, now(), now(), id, now(), id, id ${from}`,
    appointment_history: `INSERT INTO appointment_history (tenant_id, appointment_id, version, to_status, to_starts_at, to_ends_at,
         to_program_id, to_practitioner_id, principal, correlation_id, changed_at)
       SELECT '${TENANT}', id, 1, 'CANCELLED', now(), now(), id, id, 'issuer client', id, now() ${from}`,
    audit_events: `INSERT INTO audit_events (tenant_id, id, operation, principal, correlation_id, action, resource_type, resource_id)
       SELECT '${TENANT}', id, 'Service/Method', 'issuer client', id, 'CREATE', 'Patient', id ${from}`,
    patient_access_records: `INSERT INTO patient_access_records (tenant_id, id, patient_id, operation, principal, correlation_id)
       SELECT '${TENANT}', id, id, 'Service/Method', 'issuer client', id ${from}`,
  };
}

async function placesOf(table: string): Promise<Readonly<Record<string, number>>> {
  const rows = await execute(
    database.adminUrl,
    `SELECT tableoid::regclass::text AS place, count(*)::int AS rows FROM ${table} GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ place, rows: count }) => [place, Number(count)]));
}

async function fileOf(table: string): Promise<unknown> {
  const [row] = await execute(database.adminUrl, `SELECT pg_relation_filenode('${table}') AS file`);
  return row?.["file"];
}

function serviceName(): string {
  return decodeURIComponent(new URL(former.url).username);
}
