import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { openReadyDatabase, openReplica } from "../../src/database-startup.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { erasableColumns, serviceRights } from "../../src/postgres/migration/service-rights.js";
import { createTestDatabase, execute, type TestDatabase, withDatabase } from "../support/database.js";

const APPEND_ONLY = [
  "appointment_history",
  "audit_events",
  "eligibility_decisions",
  "patient_access_records",
  "patient_consents",
];
const connections = { databaseConnections: { calls: 2, jobs: 1 }, waitSeconds: 10 };
const FORBIDDEN = { code: "42501" };

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(() => database.drop());

describe("the service's role", () => {
  test("has exactly the rights listed for each table", async () => {
    const held = await execute(
      database.ownerUrl,
      `SELECT relname AS name, ARRAY(SELECT right_name FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE',
         'REFERENCES', 'TRIGGER']) AS right_name WHERE has_table_privilege('${serviceName()}', oid, right_name)) AS rights
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    expect(Object.fromEntries(held.map(({ name, rights }) => [name, rights]))).toEqual(serviceRights);
  });

  test("can also update the columns that it may empty, and no others", async () => {
    const held = await execute(
      database.ownerUrl,
      `SELECT attrelid::regclass::text AS name, array_agg(attname::text ORDER BY attname) AS columns FROM pg_attribute
       WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')) AND attnum > 0
         AND NOT attisdropped AND has_column_privilege('${serviceName()}', attrelid, attnum, 'UPDATE')
         AND NOT has_table_privilege('${serviceName()}', attrelid, 'UPDATE') GROUP BY attrelid`,
    );
    expect(Object.fromEntries(held.map(({ name, columns }) => [name, columns]))).toEqual(erasableColumns);
  });

  test("gets missing column rights and loses extra ones at the next migration", async () => {
    const name = serviceName();
    await execute(
      database.ownerUrl,
      `REVOKE ALL ON patient_changes FROM ${name}`,
      `GRANT UPDATE (principal) ON appointment_history TO ${name}`,
    );
    await migrate({ url: database.ownerUrl, serviceUrl: database.url });
    await expect(execute(database.url, "UPDATE appointment_history SET principal = ''")).rejects.toMatchObject(
      FORBIDDEN,
    );
    expect(await execute(database.url, "UPDATE patient_changes SET reason = ''")).toEqual([]);
  });

  test.each([
    ["appointment_history", "comment = 'otra cosa'"],
    ["appointment_history", "correction_reason = 'otra cosa'"],
    ["patient_changes", "reason = 'otra cosa'"],
    ["patient_changes", "reason = '', former_document_type = 'CC', former_document_number = '1'"],
  ])("can empty but not replace a text: %s, %s", async (table, change) => {
    const tenant = "5b8d5b34-2f0e-4b5e-9f3a-5ad6b3a3f0f1";
    await execute(database.adminUrl, ...rowsToEmpty(tenant));
    const bound = [`SET cupo.tenant_id = '${tenant}'`, `UPDATE ${table} SET ${change}`];
    await expect(execute(database.url, ...bound)).rejects.toThrow("row-level security");
    const emptied =
      "UPDATE patient_changes SET reason = '', former_document_type = NULL, former_document_number = NULL";
    await execute(database.url, bound[0] ?? "", emptied, "UPDATE appointment_history SET comment = NULL");
  });

  test.each(APPEND_ONLY)("can neither change nor delete rows of %s, regardless of policies", async (table) => {
    const statements = [`UPDATE ${table} SET principal = ''`, `DELETE FROM ${table}`, `TRUNCATE ${table}`];
    for (const text of statements) await expect(execute(database.url, text)).rejects.toMatchObject(FORBIDDEN);
  });

  test.each([
    "TRUNCATE patients CASCADE",
    "CREATE TABLE public.mine ()",
    "CREATE SCHEMA mine",
    "CREATE TABLE graphile_worker.mine ()",
    "ALTER TABLE patients NO FORCE ROW LEVEL SECURITY",
    "DROP POLICY tenant ON patients",
    "DROP TABLE patients CASCADE",
    "CREATE OR REPLACE FUNCTION cupo_tenant_id() RETURNS uuid RETURN NULL::uuid",
    "UPDATE schema_migrations SET name = ''",
  ])("may not %s", async (statement) => {
    await expect(execute(database.url, statement)).rejects.toMatchObject(FORBIDDEN);
  });

  test("can add, read and remove jobs in the queue", async () => {
    await execute(database.url, "SELECT graphile_worker.add_job('anything', '{}'::json, job_key => 'one')");
    const queued = "SELECT task_identifier AS task FROM graphile_worker.jobs";
    expect(await execute(database.url, queued)).toEqual([{ task: "anything" }]);
    await execute(database.url, "SELECT graphile_worker.remove_job('one')");
    expect(await execute(database.url, queued)).toEqual([]);
  });
});

describe("migrating with separate roles for owner and service", () => {
  test("revokes rights that the service should not have", async () => {
    const name = serviceName();
    await execute(
      database.ownerUrl,
      `GRANT ALL ON audit_events TO ${name}`,
      `GRANT CREATE ON SCHEMA public TO ${name}`,
    );
    await execute(database.url, "CREATE TABLE public.mine ()", "DROP TABLE public.mine");
    await migrate({ url: database.ownerUrl, serviceUrl: database.url });
    await expect(execute(database.url, "TRUNCATE audit_events")).rejects.toMatchObject(FORBIDDEN);
    await expect(execute(database.url, "CREATE TABLE public.mine ()")).rejects.toMatchObject(FORBIDDEN);
  });

  test("creates the service's role if the owner may, with the rights it needs", async () => {
    const service = newService("p@ss wörd/'");
    await migrate({ url: database.adminUrl, serviceUrl: service.url });
    const self = "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = current_user";
    const ordinary = { rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolbypassrls: false };
    expect(await execute(service.url, self)).toEqual([ordinary]);
    expect(await execute(service.url, "SELECT FROM patients")).toEqual([]);
    await expect(execute(service.url, "DELETE FROM audit_events")).rejects.toMatchObject(FORBIDDEN);
    await database.drop();
    await execute(inject("testServer").adminUrl, `DROP ROLE ${service.name}`);
  });

  test("explains the manual steps if the owner may not create the role", async () => {
    const service = newService("secret");
    const refusal = migrate({ url: database.ownerUrl, serviceUrl: service.url });
    await expect(refusal).rejects.toThrow(`CREATE ROLE "${service.name}" LOGIN PASSWORD '…'`);
    await expect(refusal).rejects.not.toThrow("secret");
  });

  test("rejects tables that belong to the service, and explains how to give them to an owner", async () => {
    await execute(database.adminUrl, `ALTER TABLE audit_events OWNER TO ${serviceName()}`);
    const refusal = migrate({ url: database.ownerUrl, serviceUrl: database.url });
    await expect(refusal).rejects.toThrow(`REASSIGN OWNED BY "${serviceName()}" TO`);
  });

  test("migrates the job queue to the revision of its library", async () => {
    const folder = new URL("../../node_modules/graphile-worker/sql/", import.meta.url);
    const files = await readdir(fileURLToPath(folder));
    const [row] = await execute(database.url, "SELECT max(id) AS revision FROM graphile_worker.migrations");
    expect(row?.["revision"]).toBe(Math.max(...files.map((name) => Number.parseInt(name, 10))));
  });
});

describe("the start of the service", () => {
  test("detects an up-to-date schema without rights to change it", async () => {
    expect(await warningsOfStart({ databaseUrl: database.url, migrationDatabaseUrl: undefined })).toEqual([]);
  });

  test("names the role that can migrate if the schema is out of date", async () => {
    await execute(
      database.ownerUrl,
      "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
    );
    const start = warningsOfStart({ databaseUrl: database.url, migrationDatabaseUrl: undefined });
    await expect(start).rejects.toThrow("Set MIGRATION_DATABASE_URL");
  });

  test("works with one role for everything, and logs one line about the missing protection", async () => {
    const urls = { databaseUrl: database.ownerUrl, migrationDatabaseUrl: undefined };
    expect(await warningsOfStart(urls)).toEqual([
      expect.stringContaining("can change tables and erase the audit trail"),
    ]);
  });

  test("logs nothing about roles with separate owner and service", async () => {
    const urls = { databaseUrl: database.url, migrationDatabaseUrl: database.ownerUrl };
    expect(await warningsOfStart(urls)).toEqual([]);
  });

  test("rejects a service role that bypasses row-level security", async () => {
    const urls = { databaseUrl: database.adminUrl, migrationDatabaseUrl: undefined };
    await expect(warningsOfStart(urls)).rejects.toThrow(
      /is a superuser or has BYPASSRLS, .* without either, and set MIGRATION_DATABASE_URL to the owner of the tables\.$/,
    );
  });

  test("does not suggest MIGRATION_DATABASE_URL if it is set", async () => {
    const urls = { databaseUrl: database.adminUrl, migrationDatabaseUrl: database.ownerUrl };
    await expect(warningsOfStart(urls)).rejects.toThrow(
      /is a superuser or has BYPASSRLS, .* Use a role without either\.$/,
    );
  });

  test("rejects it before it creates anything in its name", async () => {
    const name = `cupo_empty_${randomBytes(4).toString("hex")}`;
    const { adminUrl } = inject("testServer");
    await execute(adminUrl, `CREATE DATABASE "${name}" TEMPLATE template0`);
    onTestFinished(async () => void (await execute(adminUrl, `DROP DATABASE "${name}" WITH (FORCE)`)));
    const databaseUrl = withDatabase(adminUrl, name);
    await expect(warningsOfStart({ databaseUrl, migrationDatabaseUrl: undefined })).rejects.toThrow("BYPASSRLS");
    const tables = "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    expect(await execute(databaseUrl, tables)).toEqual([]);
  });

  test("explains in one line how to create a missing database", async () => {
    const urls = { databaseUrl: withDatabase(database.url, "nowhere"), migrationDatabaseUrl: undefined };
    await expect(warningsOfStart(urls)).rejects.toThrow(/^[^\n]+Create it: CREATE DATABASE "nowhere" OWNER "[^\n]+"$/);
  });

  test.each([
    ["that the server does not have", () => newService("secret").url],
    ["with another password", () => database.url.replace(/:[^:@]+@/, ":wrong@")],
  ])("explains in one line that the role is one %s", async (_, urlOf) => {
    const start = warningsOfStart({ databaseUrl: urlOf(), migrationDatabaseUrl: undefined });
    await expect(start).rejects.toThrow(
      /^The PostgreSQL server rejects the role of DATABASE_URL \([^\n]+ALTER ROLE … LOGIN[^\n]+$/,
    );
  });

  test("names the settings whose role may be rejected", async () => {
    const migrationDatabaseUrl = database.url.replace(/:[^:@]+@/, ":wrong@");
    const start = warningsOfStart({ databaseUrl: database.url, migrationDatabaseUrl });
    await expect(start).rejects.toThrow("rejects the role of DATABASE_URL or MIGRATION_DATABASE_URL (");
  });

  test("explains in one line that pg_hba.conf does not allow the connection", async () => {
    const databaseUrl = await serverThatRejects('no pg_hba.conf entry for host "10.0.0.1", no encryption');
    await expect(warningsOfStart({ databaseUrl, migrationDatabaseUrl: undefined })).rejects.toThrow(
      /^The PostgreSQL server rejects the role of DATABASE_URL \(no pg_hba[^\n]+\)\. Allow this role[^\n]+ in pg_hba\.conf/,
    );
    const primary = await openReadyDatabase(
      { databaseUrl: database.url, migrationDatabaseUrl: database.ownerUrl },
      connections,
      pino({ enabled: false }),
    );
    onTestFinished(() => primary.close());
    const opened = openReplica(
      { ...connections, replicaUrl: databaseUrl },
      primary,
      pino({ enabled: false }),
      () => {},
    );
    await expect(opened).rejects.toThrow("rejects the role of DATABASE_REPLICA_URL (no pg_hba.conf entry");
  });
});

/** Starts a server that rejects each login with SQLSTATE 28000. Returns its URL. */
async function serverThatRejects(message: string): Promise<string> {
  const fields = `SFATAL\0C28000\0M${message}\0\0`;
  const answer = Buffer.concat([Buffer.from("E\0\0\0\0"), Buffer.from(fields)]);
  answer.writeUInt32BE(answer.length - 1, 1);
  const server = createServer((socket) => void socket.once("data", () => socket.end(answer)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `postgres://cupo:secret@127.0.0.1:${(server.address() as AddressInfo).port}/clinics`;
}

/** Adds a row to each of the tables, ignoring foreign keys. */
function rowsToEmpty(tenant: string): string[] {
  const id = "0190163d-8694-739b-aea5-966c26f8ad91";
  return [
    "SET session_replication_role = replica",
    `INSERT INTO patient_changes (tenant_id, id, patient_id, version, kind, former_document_type, former_document_number, reason,
       changed_at, principal, correlation_id)
     VALUES ('${tenant}', '${id}', '${id}', 2, 'DOCUMENT_CORRECTED', 'CC', '9', 'Digitado mal', now(), 'p', '${id}')`,
    `INSERT INTO appointment_history (tenant_id, appointment_id, version, to_status, to_starts_at, to_ends_at, to_program_id,
       to_practitioner_id, principal, correlation_id, changed_at, comment)
     VALUES ('${tenant}', '${id}', 1, 'CANCELLED', now(), now(), '${id}', '${id}', 'p', '${id}', now(), 'Avisó')`,
  ];
}

async function warningsOfStart(urls: Parameters<typeof openReadyDatabase>[0]): Promise<unknown[]> {
  const lines: unknown[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const ready = await openReadyDatabase(urls, connections, logger);
  await ready.close();
  return lines;
}

function serviceName(): string {
  return decodeURIComponent(new URL(database.url).username);
}

function newService(password: string): { readonly name: string; readonly url: string } {
  const name = `cupo_service_${randomBytes(4).toString("hex")}`;
  const url = new URL(database.url);
  url.username = name;
  url.password = encodeURIComponent(password);
  return { name, url: url.href };
}
