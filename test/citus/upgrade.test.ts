import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import knex, { type Knex } from "knex";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { knownMigrations, MIGRATIONS_FOLDER } from "../../src/postgres/migration/known-migrations.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { recordCompatibility } from "../../src/postgres/migration/newer-migrations.js";
import { runStatements } from "../../src/postgres/migration/run-statements.js";
import {
  type DocumentedDatabase,
  distributePresentTables,
  followDocumentedSteps,
  withoutCitus,
} from "../support/citus.js";
import { execute, withDatabase } from "../support/database.js";

/** The last migration before those that change distributed tables. */
const FORMER = "0031-history-partitioned";
const LATER = ["0032-patient-exclusion", "0033-practitioner-exclusion"];
const MAKING_MS = 300_000;
const TENANTS = ["10000000-0000-4000-8000-000000000001", "20000000-0000-4000-8000-000000000002"];

describe.skipIf(withoutCitus !== "")(`a cluster whose tables are distributed${withoutCitus}`, () => {
  const { adminUrl, workerUrls } = inject("testServer");
  let name: string;

  beforeEach(() => {
    name = `cupo_upgrade_${randomBytes(4).toString("hex")}`;
  });

  afterEach(async () => {
    for (const url of [adminUrl, ...workerUrls]) {
      await execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await execute(url, `DROP ROLE IF EXISTS ${name}`, `DROP ROLE IF EXISTS ${name}_owner`);
    }
  });

  test(
    `since ${FORMER} is migrated to the latest release and keeps its data`,
    async () => {
      const steps = { migrateTo: migrateToFormer, distribute: distributePresentTables };
      const database = await followDocumentedSteps(adminUrl, name, steps);
      await addAppointments();
      await migrate({ url: database.ownerUrl, serviceUrl: database.serviceUrl });
      await expectUpToDate(database);
    },
    MAKING_MS,
  );

  test(
    "since the last migration accepts changes of distributed tables too",
    async () => {
      const database = await followDocumentedSteps(adminUrl, name);
      await addAppointments();
      const again = LATER.map((each) => `'${each}'`).join();
      await execute(
        database.ownerUrl,
        `DELETE FROM schema_migrations WHERE name IN (${again})`,
        `DELETE FROM schema_compatibility WHERE migration IN (${again})`,
      );
      await migrate({ url: database.ownerUrl, serviceUrl: database.serviceUrl });
      await expectUpToDate(database);
    },
    MAKING_MS,
  );

  /** Inserts an appointment for each tenant without checking its foreign keys. */
  async function addAppointments(): Promise<void> {
    const insert = (tenant: string) => `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id,
        practitioner_id, location_id, starts_at, ends_at, status, version, created_at, updated_at, rule_id, local_date,
        request_source_id, appointment_type_id)
      SELECT '${tenant}', id, id, id, id, id, id, '2027-01-04T13:00Z', '2027-01-04T14:00Z', 'CONFIRMED', 1, now(), now(),
        id, '2027-01-04', id, id FROM (SELECT '${tenant}'::uuid AS id) AS one`;
    for (const tenant of TENANTS)
      await execute(
        withDatabase(adminUrl, name),
        "BEGIN",
        "SET LOCAL session_replication_role = replica",
        insert(tenant),
        "COMMIT",
      );
  }

  /**
   * Requires that all migrations are applied, the appointments still exist and all shards have the new exclusion
   * constraints.
   */
  async function expectUpToDate({ ownerUrl }: DocumentedDatabase): Promise<void> {
    const applied = await execute(ownerUrl, 'SELECT name FROM schema_migrations ORDER BY name COLLATE "C"');
    expect(applied.map((row) => row["name"])).toEqual(await knownMigrations());
    const url = withDatabase(adminUrl, name);
    const held = await execute(url, "SELECT tenant_id FROM appointments ORDER BY 1");
    expect(held.map((row) => row["tenant_id"])).toEqual(TENANTS);
    const definitions = await execute(
      url,
      `SELECT DISTINCT result FROM run_command_on_shards('appointments', $$SELECT string_agg(
         left(conname, 25) || ': ' || (pg_get_constraintdef(oid) LIKE '%%status || %%'), ', ' ORDER BY conname)
         FROM pg_constraint WHERE contype = 'x' AND conrelid = '%s'::regclass$$)`,
    );
    expect(definitions).toEqual([{ result: "appointments_patient_excl: true, appointments_practitioner: true" }]);
  }
});

/** Applies the migrations up to `FORMER`, as a release of that time did. */
async function migrateToFormer({ url, serviceUrl }: Parameters<typeof migrate>[0]): Promise<void> {
  const names = (await knownMigrations()).filter((each) => each <= FORMER);
  const migrationSource = {
    getMigrations: async () => names,
    getMigrationName: (each: string) => each,
    getMigration: async (each: string): Promise<Knex.Migration> => {
      const sql = await readFile(new URL(`${each}.sql`, MIGRATIONS_FOLDER), "utf8");
      const up = async (transaction: Knex) => {
        await runStatements(transaction, each, sql);
        await recordCompatibility(transaction, each, sql);
      };
      return { up, down: async () => undefined };
    },
  };
  const owner = knex({ client: "pg", connection: url });
  try {
    for (const _ of names) await owner.migrate.up({ migrationSource, tableName: "schema_migrations" });
    await owner.raw("GRANT SELECT ON schema_migrations TO ??", [new URL(serviceUrl ?? url).username]);
  } finally {
    await owner.destroy();
  }
}
