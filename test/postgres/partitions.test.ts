import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isUpToDate } from "../../src/postgres/migration/is-up-to-date.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { createTestDatabase, execute } from "../support/database.js";
import { idAt, PARTED, type PartedTables, partedTables, TENANT } from "./partitions-under-test.js";

const AS_TENANT = `SET cupo.tenant_id = '${TENANT}'`;
const DAY_MS = 86_400_000;

let tables: PartedTables;

beforeEach(async () => {
  tables = await partedTables(await createTestDatabase());
});

afterEach(() => tables.database.drop());

describe("partitions", () => {
  test("are created once for the current month and the next three", async () => {
    const made = PARTED.flatMap((table) => [0, 1, 2, 3].map((n) => `made ${table}${tables.month(n)}`));
    expect(await tables.tendAt(tables.startOf(0))).toEqual(made);
    expect(await tables.tendAt(lastDayOf(0))).toEqual([]);
  });

  test("are created for each table when a month begins", async () => {
    await tables.tendAt(lastDayOf(0));
    expect(await tables.tendAt(tables.startOf(1))).toEqual(PARTED.map((table) => `made ${table}${tables.month(4)}`));
  });

  test("are created for months that were missed", async () => {
    await tables.tendAt(tables.startOf(0));
    await tables.tendAt(tables.startOf(9));
    const months = Array.from({ length: 13 }, (_, n) => `audit_events${tables.month(n)}`);
    expect(await tables.partitionsOf("audit_events")).toEqual([...months, "audit_events_first", "audit_events_rest"]);
  });

  test("hold the rows whose ids were made in their month, from its first millisecond to its last", async () => {
    await tables.tendAt(tables.startOf(0));
    const before = await tables.addAudit(new Date(tables.startOf(0).getTime() - 1));
    const first = await tables.addAudit(tables.startOf(0));
    const last = await tables.addAudit(new Date(tables.startOf(1).getTime() - 1));
    const next = await tables.addAudit(tables.startOf(1));
    expect(await tables.auditPlaces()).toEqual({
      audit_events_first: [before],
      [`audit_events${tables.month(0)}`]: [first, last],
      [`audit_events${tables.month(1)}`]: [next],
    });
  });

  test("have the keys, indexes, foreign keys and checks of their table", async () => {
    await tables.tendAt(tables.startOf(0));
    for (const table of PARTED) {
      const shapes = (await tables.partitionsOf(table)).map(async (name) => shapeOf(name));
      expect(new Set(await Promise.all(shapes)).size).toBe(1);
    }
  });
});

describe("rows without a partition", () => {
  test("are stored and read like others, and move to their partition when it is created", async () => {
    const [early, late] = [await tables.addAudit(tables.startOf(0)), await tables.addAudit(tables.startOf(30))];
    expect(await tables.auditPlaces()).toEqual({ audit_events_rest: [early, late] });
    expect(await readAsService("audit_events", "id")).toEqual([early, late]);
    await tables.tendAt(tables.startOf(0));
    expect(await tables.auditPlaces()).toEqual({
      [`audit_events${tables.month(0)}`]: [early],
      audit_events_rest: [late],
    });
    expect(await readAsService("audit_events", "id")).toEqual([early, late]);
  });

  test("move with the rows they refer to, which row-level security hides from the owner", async () => {
    const appointmentId = await addHistory(tables.startOf(1));
    await tables.tendAt(tables.startOf(0));
    expect(await readAsService("appointment_history", "appointment_id")).toEqual([appointmentId]);
    const place = `SELECT appointment_id AS id FROM appointment_history${tables.month(1)}`;
    expect(await execute(tables.database.adminUrl, place)).toEqual([{ id: appointmentId }]);
  });

  test("raise an error for an operator if there are many, after all maintenance of other tables", async () => {
    await tables.addAudit(tables.startOf(0));
    await tables.addAudit(tables.startOf(0));
    const next = (most: number) => {
      const call = `cupo_next_partition('${tables.startOf(0).toISOString()}', max_moved => ${most})`;
      return execute(tables.database.ownerUrl, `SELECT ${call} AS step`);
    };
    for (let left = 8; left > 0; left--)
      expect(await next(1)).toEqual([{ step: expect.not.stringContaining("audit") }]);
    await expect(next(1)).rejects.toMatchObject({ code: "54000" });
    expect(await next(2)).toEqual([{ step: `made audit_events${tables.month(0)}` }]);
  });
});

describe("retention", () => {
  test("drops only partitions that are wholly older, and records since when rows are gone", async () => {
    await keepMonths(12);
    await tables.tendAt(tables.startOf(0));
    await tables.addAudit(new Date(0));
    await tables.addAudit(tables.startOf(0));
    const kept = await tables.addAudit(tables.startOf(1));
    const due = tables.startOf(13);
    expect((await tables.tendAt(new Date(due.getTime() - 1))).filter(isOfDrop)).toEqual(
      ["audit_events", "patient_access_records"].map((table) => `dropped ${table}_first`),
    );
    expect((await tables.tendAt(due)).filter(isOfDrop)).toEqual(
      ["audit_events", "patient_access_records"].map((table) => `dropped ${table}${tables.month(0)}`),
    );
    expect(await tables.auditPlaces()).toEqual({ [`audit_events${tables.month(1)}`]: [kept] });
    const since = "SELECT dropped_before FROM schema_partitions WHERE dropped_before IS NOT NULL";
    const gone = { dropped_before: tables.startOf(1) };
    expect(await execute(tables.database.url, since)).toEqual([gone, gone]);
  });

  test("uses the earlier of two clocks", async () => {
    await keepMonths(12);
    expect((await tables.tendAt(tables.startOf(13), lastDayOf(11))).filter(isOfDrop)).toEqual([]);
    expect(await tables.tendAt(tables.startOf(13), tables.startOf(12))).toEqual(
      ["audit_events", "patient_access_records"].map((table) => `dropped ${table}_first`),
    );
  });

  test.each([
    [
      "less than a year for audit_events",
      "UPDATE schema_partitions SET kept_months = 11 WHERE table_name = 'audit_events'",
    ],
    [
      "any for appointment_history, which is kept with its appointments",
      "UPDATE schema_partitions SET kept_months = 12 WHERE table_name = 'appointment_history'",
    ],
  ])("rejects %s", async (_, statement) => {
    await expect(execute(tables.database.ownerUrl, statement)).rejects.toMatchObject({ code: "23514" });
  });

  test("is the one that the owner migrates with, and unlimited if none is given", async () => {
    const stated = "SELECT DISTINCT kept_months FROM schema_partitions WHERE table_name <> 'appointment_history'";
    for (const months of [undefined, 24, 36, undefined]) {
      await keepMonths(months);
      expect(await execute(tables.database.url, stated)).toEqual([{ kept_months: months ?? null }]);
      expect([await isKept(tables.database.ownerUrl, months), await isKept(tables.database.ownerUrl, 13)]).toEqual([
        true,
        false,
      ]);
      expect(await isKept(tables.database.url, 13)).toBe(true);
      await migrate({ url: tables.database.url, auditRetentionMonths: 12 });
      expect(await execute(tables.database.url, stated)).toEqual([{ kept_months: months ?? null }]);
    }
  });
});

describe("no role", () => {
  test("of the service can read or write a partition except through its table", async () => {
    const { ownerUrl, url } = tables.database;
    await execute(ownerUrl, `ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ${serviceName()}`);
    await tables.tendAt(tables.startOf(0));
    const names = (await Promise.all(PARTED.map((table) => tables.partitionsOf(table)))).flat();
    const statements = names.flatMap((name) => [
      `SELECT FROM ${name}`,
      `DELETE FROM ${name}`,
      `TRUNCATE ${name}`,
      `UPDATE ${name} SET principal = ''`,
    ]);
    expect(statements.length).toBeGreaterThan(4 * 3 * PARTED.length);
    await expectDenied(url, [AS_TENANT], statements);
  });

  test("can see a row in a partition, not even the owner with any tenant set", async () => {
    await tables.tendAt(tables.startOf(0));
    const moments = [new Date(0), tables.startOf(0), tables.startOf(30)];
    for (const at of moments) await tables.addAudit(at);
    expect(Object.keys(await tables.auditPlaces())).toHaveLength(moments.length);
    for (const name of await tables.partitionsOf("audit_events"))
      expect(await execute(tables.database.ownerUrl, AS_TENANT, `SELECT FROM ${name}`)).toEqual([]);
    expect(await execute(tables.database.ownerUrl, AS_TENANT, "SELECT FROM audit_events")).toHaveLength(moments.length);
    const foreign = `SET cupo.tenant_id = '${randomUUID()}'`;
    expect(await execute(tables.database.ownerUrl, foreign, "SELECT FROM audit_events")).toEqual([]);
  });

  test("of the service can create, detach or drop a partition, or change the retention", async () => {
    await expectDenied(
      tables.database.url,
      [],
      [
        "SELECT cupo_next_partition(now() + interval '100 years')",
        "SELECT cupo_make_partition('audit_events', 'id', '2099-01-01Z')",
        "SELECT cupo_close_partition('audit_events_first')",
        "UPDATE schema_partitions SET kept_months = 12",
        "DROP TABLE audit_events_first",
        "ALTER TABLE audit_events DETACH PARTITION audit_events_first",
      ],
    );
  });
});

test("if a transaction holds a table for longer, it continues and maintenance does nothing", async () => {
  const caller = new Client(tables.database.adminUrl);
  await caller.connect();
  try {
    await caller.query("BEGIN; LOCK TABLE audit_events_rest IN ACCESS SHARE MODE");
    await expect(tables.tendAt(tables.startOf(0))).rejects.toMatchObject({ code: "55P03" });
    expect(await tables.partitionsOf("audit_events")).toEqual(["audit_events_first", "audit_events_rest"]);
  } finally {
    await caller.end();
  }
  expect(await tables.tendAt(tables.startOf(0))).toContain(`made audit_events${tables.month(0)}`);
});

/**
 * Requires each statement to be rejected for a missing right, on a connection that has run the statements in `first`.
 */
async function expectDenied(url: string, first: readonly string[], statements: readonly string[]): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    for (const statement of first) await client.query(statement);
    for (const statement of statements)
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  } finally {
    await client.end();
  }
}

function lastDayOf(n: number): Date {
  return new Date(tables.startOf(n + 1).getTime() - DAY_MS);
}

function isOfDrop(step: string): boolean {
  return step.startsWith("dropped");
}

function keepMonths(auditRetentionMonths: number | undefined): Promise<void> {
  return migrate({ url: tables.database.ownerUrl, auditRetentionMonths });
}

/** Whether a role has nothing to migrate if the audit trail is to be kept for a number of months. */
async function isKept(url: string, months: number | undefined): Promise<boolean> {
  const client = new Client(url);
  await client.connect();
  try {
    return await isUpToDate(client, months);
  } finally {
    await client.end();
  }
}

async function readAsService(table: string, id: string): Promise<unknown[]> {
  const rows = await execute(tables.database.url, AS_TENANT, `SELECT ${id} AS id FROM ${table} ORDER BY 1`);
  return rows.map((row) => row["id"]);
}

/** Adds an appointment booked at a time and its history, ignoring other foreign keys. Returns its id. */
async function addHistory(at: Date): Promise<string> {
  const id = idAt(at);
  await execute(
    tables.database.adminUrl,
    "SET session_replication_role = replica",
    `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at, ends_at,
       status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id)
     SELECT '${TENANT}', id, id, id, id, id, id, now(), now() + interval '1 hour', 'CANCELLED', 1, now(), now(), id, now(), id, id
     FROM (SELECT '${id}'::uuid AS id) AS one`,
    `INSERT INTO appointment_history (tenant_id, appointment_id, version, to_status, to_starts_at, to_ends_at, to_program_id,
       to_practitioner_id, principal, correlation_id, changed_at)
     SELECT tenant_id, id, 1, status, starts_at, ends_at, program_id, practitioner_id, 'issuer client', id, now() FROM appointments`,
  );
  return id;
}

/** Returns the constraints and indexes of a partition, without their names. */
async function shapeOf(name: string): Promise<string> {
  const [row] = await execute(
    tables.database.ownerUrl,
    `SELECT array_agg(DISTINCT regexp_replace(definition, '^.* (ON|USING)', '')) AS parts FROM (
       SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = '${name}'::regclass
       UNION ALL SELECT split_part(pg_get_indexdef(indexrelid), 'USING', 2) FROM pg_index WHERE indrelid = '${name}'::regclass
       UNION ALL SELECT attname || ' ' || format_type(atttypid, atttypmod) || coalesce(pg_get_expr(adbin, adrelid), '')
         FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = '${name}'::regclass AND attnum > 0) AS parts`,
  );
  return JSON.stringify(row);
}

function serviceName(): string {
  return decodeURIComponent(new URL(tables.database.url).username);
}
