import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tendPartitions } from "../../src/jobs/tend-partitions.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { createInstallation, linesOf } from "../doctor/installation.js";
import { idAt, PARTED, type PartedTables, partedTables, TENANT } from "../postgres/partitions-under-test.js";
import { withoutCitus } from "../support/citus.js";
import { createTestDatabase, execute } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const LONG_MS = 300_000;
/** Starts a transaction of the tenant. Closing the connection ends it. */
const AS_TENANT = ["BEGIN", `SET LOCAL cupo.tenant_id = '${TENANT}'`];

describe.skipIf(withoutCitus !== "")(`partitions of distributed tables${withoutCitus}`, () => {
  let tables: PartedTables;

  beforeEach(async () => {
    tables = await partedTables(await createTestDatabase());
  });

  afterEach(() => tables.database.drop());

  test(
    "are created by the service's job for the current month and the three after it, once",
    async () => {
      const database = openServiceDatabase(tables.database.url);
      const ports = { database, now: () => tables.startOf(0).getTime(), logger: { info: () => undefined } };
      const made = await tendPartitions(ports);
      expect(await tendPartitions(ports)).toEqual([]);
      await database.close();
      expect(made.length).toBeGreaterThanOrEqual(PARTED.length);
      expect(made.filter((step) => !/^made \w+_20\d\d_\d\d$/.test(step))).toEqual([]);
    },
    LONG_MS,
  );

  test(
    "are reported as distributed by the doctor",
    async () => {
      const installation = await createInstallation();
      expect(linesOf(await installation.examine(), "partitions")).toEqual([
        expect.stringMatching(/^ok: created until .*, distributed by Citus; /),
      ]);
      await installation.remove();
    },
    LONG_MS,
  );

  test(
    "are distributed like their table, with its keys, foreign keys and row-level security, and accept its rows",
    async () => {
      await tables.tendAt(tables.startOf(0));
      const partitions = (await Promise.all(PARTED.map((table) => tables.partitionsOf(table)))).flat();
      const beside = await execute(
        tables.database.adminUrl,
        `SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE colocationid =
           (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = 'patients'::regclass)`,
      );
      expect(beside.map(({ name }) => name)).toEqual(expect.arrayContaining(partitions));
      for (const table of PARTED)
        expect(new Set(await Promise.all((await tables.partitionsOf(table)).map(shapeOf))).size).toBe(1);
      const ids = [await tables.addAudit(tables.startOf(0)), await tables.addAudit(tables.startOf(1))];
      expect(await countOf(`audit_events${tables.month(0)}`, `audit_events${tables.month(1)}`)).toEqual([1, 1]);
      const read = await execute(tables.database.url, ...AS_TENANT, "SELECT id FROM audit_events ORDER BY id");
      expect(read.map(({ id }) => id)).toEqual(ids);
      for (const name of partitions)
        await expect(execute(tables.database.url, ...AS_TENANT, `SELECT 1 FROM ${name}`)).rejects.toMatchObject({
          code: "42501",
        });
    },
    LONG_MS,
  );

  test(
    "receive the rows of the default partition when they are created, and are dropped after the retention period",
    async () => {
      const [early, late] = [await tables.addAudit(tables.startOf(0)), await tables.addAudit(tables.startOf(30))];
      expect(await restOf("audit_events")).toBe(true);
      const history = await addHistory(tables.startOf(0));
      await tables.tendAt(tables.startOf(0));
      const names = [`audit_events${tables.month(0)}`, "audit_events_rest"];
      expect(await countOf(...names, `appointment_history${tables.month(0)}`)).toEqual([1, 1, 1]);
      const read = (table: string, id: string) =>
        execute(tables.database.url, ...AS_TENANT, `SELECT ${id} AS id FROM ${table} ORDER BY 1`);
      expect(await read("audit_events", "id")).toEqual([{ id: early }, { id: late }]);
      expect(await read("appointment_history", "appointment_id")).toEqual([{ id: history }]);

      await migrate({ url: tables.database.ownerUrl, auditRetentionMonths: 12 });
      const done = await tables.tendAt(tables.startOf(13));
      expect(done).toContain(`dropped audit_events${tables.month(0)}`);
      expect(await read("audit_events", "id")).toEqual([{ id: late }]);
    },
    LONG_MS,
  );

  async function countOf(...names: readonly string[]): Promise<unknown[]> {
    const counts = names.map((name) => execute(tables.database.adminUrl, `SELECT count(*)::int AS n FROM ${name}`));
    return (await Promise.all(counts)).map(([row]) => row?.["n"]);
  }

  async function restOf(table: string): Promise<unknown> {
    const [row] = await execute(tables.database.url, `SELECT cupo_has_rest('${table}') AS has_rest`);
    return row?.["has_rest"];
  }

  /** Returns the constraints and row-level security of a partition, on the tenant's shard. */
  async function shapeOf(name: string): Promise<string> {
    const [row] = await execute(
      tables.database.adminUrl,
      `SELECT string_agg(DISTINCT result, ' and ') AS shape FROM run_command_on_shards('${name}', $$SELECT concat_ws(' ', relrowsecurity,
         relforcerowsecurity, (SELECT string_agg(contype || ' ' || regexp_replace(pg_get_constraintdef(oid), '_\\d{6,}', '', 'g'), ' '
           ORDER BY contype, pg_get_constraintdef(oid)) FROM pg_constraint WHERE conrelid = c.oid))
         FROM pg_class c WHERE oid = '%s'::regclass$$)`,
    );
    return String(row?.["shape"]);
  }

  /** Inserts an appointment and its history without checking their other foreign keys. Returns the id. */
  async function addHistory(at: Date): Promise<string> {
    const id = idAt(at);
    await execute(
      tables.database.adminUrl,
      "BEGIN",
      "SET LOCAL session_replication_role = replica",
      `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at, ends_at,
         status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id)
       VALUES ('${TENANT}', '${id}', '${id}', '${id}', '${id}', '${id}', '${id}', now(), now() + interval '1 hour', 'CANCELLED', 1,
         now(), now(), '${id}', now(), '${id}', '${id}')`,
      `INSERT INTO appointment_history (tenant_id, appointment_id, version, to_status, to_starts_at, to_ends_at, to_program_id,
         to_practitioner_id, principal, correlation_id, changed_at)
       VALUES ('${TENANT}', '${id}', 1, 'CANCELLED', now(), now() + interval '1 hour', '${id}', '${id}', 'issuer client', '${id}', now())`,
      "COMMIT",
    );
    return id;
  }
});
