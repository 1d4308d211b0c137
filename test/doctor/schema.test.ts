import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { execute, withDatabase } from "../support/database.js";
import { admitPatient, type Patient, told } from "./patient.js";

let patient: Patient;

beforeEach(async () => {
  patient = await admitPatient();
});

afterEach(() => patient.remove());

describe("of the migrations", () => {
  test.each([
    [
      "one that is not applied",
      "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
      /^failure: not applied yet: \d{4}-[\w-]+$/,
    ],
    [
      "one of the job queue that is not applied",
      "DELETE FROM graphile_worker.migrations WHERE id = (SELECT max(id) FROM graphile_worker.migrations)",
      /^failure: the job queue's own are not applied yet$/,
    ],
    [
      "a newer one that does not say that it goes with this release",
      "INSERT INTO schema_migrations (name, batch) VALUES ('9999-next', 99)",
      /^failure: 9999-next is of a newer release/,
    ],
  ])("%s is a failure", async (_, statement, says) => {
    await execute(patient.database.ownerUrl, statement);
    expect(told(await patient.examine(), "migrations")).toEqual([expect.stringMatching(says)]);
  });

  test("a newer one that goes with this release is ok", async () => {
    await execute(
      patient.database.ownerUrl,
      "INSERT INTO schema_migrations (name, batch) VALUES ('9999-next', 99)",
      "INSERT INTO schema_compatibility (migration, oldest_release) VALUES ('9999-next', '0001-foundation')",
    );
    expect(told(await patient.examine(), "migrations")).toEqual([expect.stringMatching(/^ok: .*: 9999-next$/)]);
  });

  test("an empty database has none of them, and nothing else is said of its tables", async () => {
    await execute(
      patient.database.ownerUrl,
      "DROP SCHEMA graphile_worker CASCADE",
      "DROP SCHEMA public CASCADE",
      "CREATE SCHEMA public",
    );
    const findings = await patient.examine();
    expect(told(findings, "migrations")).toEqual([
      expect.stringMatching(/^failure: not applied yet: \d+ from 0001-foundation to /),
      expect.stringMatching(/^failure: the job queue's own/),
    ]);
    expect([...told(findings, "row security"), ...told(findings, "jobs")]).toEqual([]);
  });

  test("that the role may not see them is a failure", async () => {
    await execute(patient.database.ownerUrl, `REVOKE ALL ON schema_migrations FROM ${serviceName()}`);
    expect(told(await patient.examine(), "migrations")).toEqual([
      expect.stringMatching(/^failure: the role may not see/),
    ]);
  });
});

describe("of the service's role", () => {
  test("that it is a superuser is a failure", async () => {
    const findings = await patient.examine({ DATABASE_URL: patient.database.adminUrl });
    expect(told(findings, "role")).toEqual([expect.stringMatching(/^failure: the service's role \w+ is a superuser$/)]);
  });

  test("that it has BYPASSRLS is a failure", async () => {
    const { adminUrl } = inject("testServer");
    const url = new URL(patient.database.url);
    url.username = `cupo_bypass_${randomBytes(4).toString("hex")}`;
    url.password = "secret";
    await execute(adminUrl, `CREATE ROLE ${url.username} LOGIN BYPASSRLS PASSWORD 'secret'`);
    onTestFinished(async () => void (await execute(adminUrl, `DROP ROLE ${url.username}`)));
    const findings = await patient.examine({ DATABASE_URL: url.href });
    expect(told(findings, "role")).toEqual([`failure: the service's role ${url.username} has BYPASSRLS`]);
  });

  test("that it owns the tables is a warning where it migrates them, and a failure where another should", async () => {
    const alone = await patient.examine({ DATABASE_URL: patient.database.ownerUrl, MIGRATION_DATABASE_URL: "" });
    expect(told(alone, "role")).toEqual([expect.stringMatching(/^warning: .* owns \d+ of the tables, and can change/)]);
    await execute(patient.database.adminUrl, `ALTER TABLE audit_events OWNER TO ${serviceName()}`);
    expect(told(await patient.examine(), "role")).toEqual([expect.stringMatching(/^failure: .* owns 1 of the tables/)]);
  });

  test.each([
    ["GRANT TRUNCATE ON audit_events TO", "has TRUNCATE on audit_events, which it must not"],
    ["GRANT UPDATE ON patient_consents TO", "has UPDATE on patient_consents, which it must not"],
    ["REVOKE INSERT ON appointments FROM", "lacks INSERT on appointments"],
    ["GRANT UPDATE (kind) ON patient_changes TO", "has UPDATE (kind) on patient_changes, which it must not"],
    ["REVOKE UPDATE (comment) ON appointment_history FROM", "lacks UPDATE (comment) on appointment_history"],
  ])("%s it is a failure", async (statement, says) => {
    const name = serviceName();
    await execute(patient.database.ownerUrl, `${statement} ${name}`);
    expect(told(await patient.examine(), "role")).toEqual([`failure: the service's role ${name} ${says}`]);
  });
});

describe("of the owner", () => {
  test("that its URL leads to another database is a failure", async () => {
    const elsewhere = withDatabase(patient.database.adminUrl, "postgres");
    const findings = await patient.examine({ MIGRATION_DATABASE_URL: elsewhere });
    expect(told(findings, "owner")).toEqual([expect.stringMatching(/^failure: .* leads to another database/)]);
  });

  test("that it does not own a table is a failure", async () => {
    await execute(patient.database.adminUrl, "ALTER TABLE patients OWNER TO CURRENT_USER");
    expect(told(await patient.examine(), "owner")).toEqual([expect.stringMatching(/does not own patients$/)]);
  });

  test("that it is not let in is a failure, and the rest is looked at all the same", async () => {
    const wrong = patient.database.ownerUrl.replace(/:[^:@]+@/, ":wrong@");
    const findings = await patient.examine({ MIGRATION_DATABASE_URL: wrong });
    expect(told(findings, "owner")).toEqual([expect.stringMatching(/^failure: MIGRATION_DATABASE_URL leads to no/)]);
    expect(told(findings, "jobs")).toHaveLength(1);
  });
});

describe("of row-level security", () => {
  test.each([
    "ALTER TABLE patients NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE patients DISABLE ROW LEVEL SECURITY",
    "DO $$ DECLARE one name; BEGIN FOR one IN SELECT polname FROM pg_policy WHERE polrelid = 'patients'::regclass LOOP EXECUTE format('DROP POLICY %I ON patients', one); END LOOP; END $$",
  ])("%s is a failure that names the table", async (statement) => {
    await execute(patient.database.ownerUrl, statement);
    expect(told(await patient.examine(), "row security")).toEqual([
      "failure: not on, not forced or without a policy in patients",
    ]);
  });
});

function serviceName(): string {
  return decodeURIComponent(new URL(patient.database.url).username);
}
