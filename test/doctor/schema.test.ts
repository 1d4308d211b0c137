import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { execute, withDatabase } from "../support/database.js";
import { createInstallation, type Installation, linesOf } from "./installation.js";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

describe("the check of the migrations", () => {
  test.each([
    [
      "a migration that is not applied",
      "DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)",
      /^failure: not applied yet: \d{4}-[\w-]+$/,
    ],
    [
      "a migration of the job queue that is not applied",
      "DELETE FROM graphile_worker.migrations WHERE id = (SELECT max(id) FROM graphile_worker.migrations)",
      /^failure: the job queue's migrations are not applied yet$/,
    ],
    [
      "a newer migration that does not declare its compatibility with this release",
      "INSERT INTO schema_migrations (name, batch) VALUES ('9999-next', 99)",
      /^failure: 9999-next is of a newer release/,
    ],
  ])("fails for %s", async (_, statement, says) => {
    await execute(installation.database.ownerUrl, statement);
    expect(linesOf(await installation.examine(), "migrations")).toEqual([expect.stringMatching(says)]);
  });

  test("accepts a newer migration that is compatible with this release", async () => {
    await execute(
      installation.database.ownerUrl,
      "INSERT INTO schema_migrations (name, batch) VALUES ('9999-next', 99)",
      "INSERT INTO schema_compatibility (migration, oldest_release) VALUES ('9999-next', '0001-foundation')",
    );
    expect(linesOf(await installation.examine(), "migrations")).toEqual([expect.stringMatching(/^ok: .*: 9999-next$/)]);
  });

  test("reports only that none is applied if the database is empty", async () => {
    await execute(
      installation.database.ownerUrl,
      "DROP SCHEMA graphile_worker CASCADE",
      "DROP SCHEMA public CASCADE",
      "CREATE SCHEMA public",
      "GRANT USAGE ON SCHEMA public TO PUBLIC",
    );
    const findings = await installation.examine();
    expect(linesOf(findings, "migrations")).toEqual([
      expect.stringMatching(/^failure: not applied yet: \d+ from 0001-foundation to /),
      expect.stringMatching(/^failure: the job queue's migrations/),
    ]);
    expect([...linesOf(findings, "row security"), ...linesOf(findings, "jobs")]).toEqual([]);
  });

  test("fails if the role may not read them", async () => {
    await execute(installation.database.ownerUrl, `REVOKE ALL ON schema_migrations FROM ${serviceName()}`);
    expect(linesOf(await installation.examine(), "migrations")).toEqual([
      expect.stringMatching(/^failure: the role may not read/),
    ]);
  });
});

describe("the check of the service's role", () => {
  test("fails for a superuser", async () => {
    const findings = await installation.examine({ DATABASE_URL: installation.database.adminUrl });
    expect(linesOf(findings, "role")).toEqual([
      expect.stringMatching(/^failure: the service's role \w+ is a superuser$/),
    ]);
  });

  test("fails for a role with BYPASSRLS", async () => {
    const { adminUrl } = inject("testServer");
    const url = new URL(installation.database.url);
    url.username = `cupo_bypass_${randomBytes(4).toString("hex")}`;
    url.password = "secret";
    await execute(adminUrl, `CREATE ROLE ${url.username} LOGIN BYPASSRLS PASSWORD 'secret'`);
    onTestFinished(async () => void (await execute(adminUrl, `DROP ROLE ${url.username}`)));
    const findings = await installation.examine({ DATABASE_URL: url.href });
    expect(linesOf(findings, "role")).toEqual([`failure: the service's role ${url.username} has BYPASSRLS`]);
  });

  test("warns if it owns the tables and there is no other owner, and fails if there is one", async () => {
    const alone = await installation.examine({
      DATABASE_URL: installation.database.ownerUrl,
      MIGRATION_DATABASE_URL: "",
    });
    expect(linesOf(alone, "role")).toEqual([
      expect.stringMatching(/^warning: .* owns \d+ of the tables, so it can change/),
    ]);
    await execute(installation.database.adminUrl, `ALTER TABLE audit_events OWNER TO ${serviceName()}`);
    expect(linesOf(await installation.examine(), "role")).toEqual([
      expect.stringMatching(/^failure: .* owns 1 of the tables/),
    ]);
  });

  test.each([
    ["GRANT TRUNCATE ON audit_events TO", "has TRUNCATE on audit_events, which it must not have"],
    ["GRANT UPDATE ON patient_consents TO", "has UPDATE on patient_consents, which it must not have"],
    ["REVOKE INSERT ON appointments FROM", "lacks INSERT on appointments"],
    ["GRANT UPDATE (kind) ON patient_changes TO", "has UPDATE (kind) on patient_changes, which it must not have"],
    ["REVOKE UPDATE (comment) ON appointment_history FROM", "lacks UPDATE (comment) on appointment_history"],
    ["GRANT INSERT (name) ON schema_migrations TO", "has INSERT (name) on schema_migrations, which it must not have"],
    ["GRANT REFERENCES (id) ON patients TO", "has REFERENCES (id) on patients, which it must not have"],
    ["GRANT TRIGGER ON patients TO", "has TRIGGER on patients, which it must not have"],
    ["GRANT CREATE ON SCHEMA public TO", "may create objects in the schema public, which it must not"],
    [
      "REVOKE INSERT ON graphile_worker._private_tasks FROM",
      "cannot use graphile_worker._private_tasks: it lacks rights or a policy",
    ],
  ])("fails after %s the role", async (statement, says) => {
    const name = serviceName();
    await execute(installation.database.ownerUrl, `${statement} ${name}`);
    expect(linesOf(await installation.examine(), "role")).toEqual([`failure: the service's role ${name} ${says}`]);
    await migrate({ url: installation.database.ownerUrl, serviceUrl: installation.database.url });
    expect(linesOf(await installation.examine(), "role")).toEqual([expect.stringMatching(/^ok: /)]);
  });
});

describe("the check of the owner", () => {
  test("fails if its URL points to another database", async () => {
    const elsewhere = withDatabase(installation.database.adminUrl, "postgres");
    const findings = await installation.examine({ MIGRATION_DATABASE_URL: elsewhere });
    expect(linesOf(findings, "owner")).toEqual([expect.stringMatching(/^failure: .* points to another database/)]);
  });

  test("fails if it does not own a table", async () => {
    await execute(installation.database.adminUrl, "ALTER TABLE patients OWNER TO CURRENT_USER");
    expect(linesOf(await installation.examine(), "owner")).toEqual([expect.stringMatching(/does not own patients$/)]);
  });

  test("fails if it cannot log in, and the other checks still run", async () => {
    const wrong = installation.database.ownerUrl.replace(/:[^:@]+@/, ":wrong@");
    const findings = await installation.examine({ MIGRATION_DATABASE_URL: wrong });
    expect(linesOf(findings, "owner")).toEqual([
      expect.stringMatching(/^failure: MIGRATION_DATABASE_URL: \S+ rejects the password of the role/),
    ]);
    expect(linesOf(findings, "jobs")).toHaveLength(1);
  });
});

describe("the check of row-level security", () => {
  test.each([
    "ALTER TABLE patients NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE patients DISABLE ROW LEVEL SECURITY",
    "DO $$ DECLARE one name; BEGIN FOR one IN SELECT polname FROM pg_policy WHERE polrelid = 'patients'::regclass LOOP EXECUTE format('DROP POLICY %I ON patients', one); END LOOP; END $$",
  ])("fails with the name of the table after %s", async (statement) => {
    await execute(installation.database.ownerUrl, statement);
    expect(linesOf(await installation.examine(), "row security")).toEqual([
      "failure: not enabled, not forced or without a policy in patients",
    ]);
  });
});

function serviceName(): string {
  return decodeURIComponent(new URL(installation.database.url).username);
}
