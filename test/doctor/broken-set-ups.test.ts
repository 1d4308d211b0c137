import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { execute } from "../support/database.js";
import { createInstallation, type Installation } from "./installation.js";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

/** Returns the findings that are not ok, each as one line with level, check, message and advice. */
async function complaints(environment?: Readonly<Record<string, string>>): Promise<string[]> {
  const findings = await installation.examine(environment);
  return findings
    .filter(({ level }) => level !== "ok")
    .map(({ level, check, says, advice }) => `${level} ${check}: ${says}. ${advice}`);
}

describe("the doctor compares the catalog with the one of the migrations and reports", () => {
  test.each<[string, string, RegExp]>([
    [
      "a policy replaced by USING (true)",
      "DROP POLICY tenant ON patients; CREATE POLICY tenant ON patients USING (true)",
      /^failure schema: policy patients\.tenant is not as 0054-patient-policy created it; it is: CREATE POLICY tenant ON patients USING \(true\)\. Run as the owner in one transaction: DROP POLICY "tenant" ON patients; CREATE POLICY tenant ON patients USING \(\(tenant_id = cupo_tenant_id\(\)\)\) WITH CHECK /,
    ],
    [
      "a policy with another command",
      "DROP POLICY tenant_read ON audit_events; CREATE POLICY tenant_read ON audit_events USING (tenant_id = cupo_tenant_id())",
      /^failure schema: policy audit_events\.tenant_read is not as 0001-foundation created it/,
    ],
    [
      "an additional policy",
      "CREATE POLICY everybody ON notes USING (true)",
      /^failure schema: policy notes\.everybody was not created by a migration: .*Run as the owner: DROP POLICY "everybody" ON notes$/,
    ],
    [
      "a policy on a partition",
      "CREATE POLICY everybody ON audit_events_first USING (true)",
      /^failure schema: policy audit_events\.everybody in partition audit_events_first was not created .* DROP POLICY "everybody" ON audit_events_first$/,
    ],
    [
      "an exclusion constraint that is dropped",
      "ALTER TABLE appointments DROP CONSTRAINT appointments_practitioner_excl",
      /^failure schema: constraint appointments\.appointments_practitioner_excl is missing; 0033-practitioner-exclusion created it\. .*ADD CONSTRAINT appointments_practitioner_excl EXCLUDE USING gist/,
    ],
    [
      "a unique constraint that is dropped",
      "ALTER TABLE programs DROP CONSTRAINT programs_code_key",
      /^failure schema: constraint programs\.programs_code_key is missing; 0004-scheduling created it/,
    ],
    [
      "a unique index that is dropped",
      "DROP INDEX patients_active_document_key",
      /^failure schema: index patients\.patients_active_document_key is missing; 0002-patients created it\. .*CREATE UNIQUE INDEX/,
    ],
    [
      "a unique index replaced by one that is not unique",
      "DROP INDEX slots_start_key; CREATE INDEX slots_start_key ON slots (tenant_id, program_id, practitioner_id, starts_at) WHERE NOT retained AND rule_id IS NOT NULL",
      /^failure schema: index slots\.slots_start_key is not as 0012-walk-in created it; it is: CREATE INDEX/,
    ],
    [
      "an index replaced by a unique one",
      "DROP INDEX appointments_start_idx; CREATE UNIQUE INDEX appointments_start_idx ON appointments (tenant_id, starts_at)",
      /^failure schema: index appointments\.appointments_start_idx is not as 0006-schedule created it; it is: CREATE UNIQUE INDEX/,
    ],
    [
      "an index that is dropped",
      "DROP INDEX appointments_start_idx",
      /^warning schema: index appointments\.appointments_start_idx is missing; 0006-schedule created it/,
    ],
    [
      "an additional index",
      "CREATE INDEX mine ON patients (tenant_id, created_at)",
      /^warning schema: index patients\.mine was not created by a migration: .*Unless it was added on purpose, run as the owner: DROP INDEX "mine"$/,
    ],
    [
      "an additional unique index",
      "CREATE UNIQUE INDEX mine ON patients (tenant_id, created_at)",
      /^failure schema: index patients\.mine was not created by a migration: .*Run as the owner: DROP INDEX "mine"$/,
    ],
    [
      "an additional column that the service does not fill",
      "ALTER TABLE notes ADD COLUMN mine text NOT NULL",
      /^failure schema: column notes\.mine was not created by a migration: .*Run as the owner: ALTER TABLE notes DROP COLUMN "mine"$/,
    ],
    [
      "an additional column with a default",
      "ALTER TABLE notes ADD COLUMN mine text NOT NULL DEFAULT ''",
      /^warning schema: column notes\.mine was not created by a migration: .*Unless it was added on purpose, run as the owner/,
    ],
    [
      "a foreign key that is dropped",
      "ALTER TABLE appointment_history DROP CONSTRAINT appointment_history_appointment_fkey",
      /^failure schema: constraint appointment_history\.appointment_history_appointment_fkey is missing; 0031-history-partitioned created it/,
    ],
    [
      "a foreign key that is not valid",
      `ALTER TABLE programs DROP CONSTRAINT programs_tenant_id_location_id_fkey;
       ALTER TABLE programs ADD CONSTRAINT programs_tenant_id_location_id_fkey FOREIGN KEY (tenant_id, location_id) REFERENCES locations (tenant_id, id) NOT VALID`,
      /^failure schema: constraint programs\.programs_tenant_id_location_id_fkey is not as .* NOT VALID\. Run as the owner: ALTER TABLE programs VALIDATE CONSTRAINT "programs_tenant_id_location_id_fkey"$/,
    ],
    [
      "a check constraint that is dropped",
      "ALTER TABLE program_rules DROP CONSTRAINT program_rules_holiday_policy_check",
      /^failure schema: constraint program_rules\.program_rules_holiday_policy_check is missing; 0004-scheduling created it/,
    ],
    [
      "a column of another type",
      "ALTER TABLE holidays ALTER COLUMN name TYPE varchar(40)",
      /^failure schema: column holidays\.name is not as 0004-scheduling created it; it is: .*varchar|character varying\(40\)/,
    ],
    [
      "a column that accepts null",
      "ALTER TABLE program_rules ALTER COLUMN holiday_policy DROP NOT NULL",
      /^failure schema: column program_rules\.holiday_policy is not as 0004-scheduling created it.* text NOT NULL$/,
    ],
    [
      "a function with another body",
      "CREATE OR REPLACE FUNCTION cupo_tenant_id() RETURNS uuid LANGUAGE sql STABLE RETURN NULL::uuid",
      /^failure schema: function cupo_tenant_id\(\) is not as 0001-foundation created it/,
    ],
    [
      "a trigger",
      "CREATE TRIGGER quiet BEFORE UPDATE ON slots FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
      /^failure schema: trigger slots\.quiet was not created by a migration: .*Run as the owner: DROP TRIGGER "quiet" ON slots$/,
    ],
    [
      "a table that is dropped",
      "DROP TABLE notes",
      /^failure schema: table notes is missing; 0010-corrections-and-notes created it/,
    ],
    [
      "row-level security that does not apply to the owner",
      "ALTER TABLE patients NO FORCE ROW LEVEL SECURITY",
      /^failure row security: not enabled, not forced or without a policy in patients/,
    ],
    [
      "an additional right on the audit trail",
      "GRANT UPDATE ON audit_events TO service",
      /^failure role: .*has UPDATE on audit_events, which it must not have/,
    ],
    [
      "a right that is missing",
      "REVOKE INSERT ON appointments FROM service",
      /^failure role: .*lacks INSERT on appointments/,
    ],
    [
      "a function that the service may not call",
      "REVOKE EXECUTE ON FUNCTION cupo_tend_partitions(timestamptz) FROM service",
      /^failure role: .*lacks EXECUTE on cupo_tend_partitions/,
    ],
    [
      "a migration that is not applied",
      "DELETE FROM schema_migrations WHERE name = '0033-practitioner-exclusion'",
      /^failure migrations: not applied yet: 0033-practitioner-exclusion/,
    ],
  ])("%s", async (_, statements, complaint) => {
    const service = new URL(installation.database.url).username;
    await execute(installation.database.ownerUrl, statements.replace(/\bservice$/, service));
    expect(await complaints()).toEqual([expect.stringMatching(complaint)]);
  });

  test("a schema that the service may not use", async () => {
    await execute(installation.database.adminUrl, "REVOKE USAGE ON SCHEMA public FROM PUBLIC");
    expect(await complaints()).toEqual([
      expect.stringMatching(/^failure migrations: the role may not use the schema public\. Run migrate /),
    ]);
  });

  test("a search path without the schema", async () => {
    const { pathname } = new URL(installation.database.url);
    await execute(
      installation.database.ownerUrl,
      `ALTER DATABASE "${pathname.slice(1)}" SET search_path = other, pg_catalog`,
    );
    expect(await complaints()).toEqual([
      expect.stringMatching(
        /^failure migrations: the role does not find the tables .*: its search_path is other, pg_catalog\. Set a search_path/,
      ),
    ]);
  });

  test("a job queue that shows the service no jobs", async () => {
    const { username } = new URL(installation.database.url);
    await execute(installation.database.ownerUrl, `DROP POLICY ${username} ON graphile_worker._private_jobs`);
    expect(await complaints()).toEqual([
      expect.stringMatching(
        /^failure role: .* cannot use graphile_worker\._private_jobs: it lacks rights or a policy\. Run migrate /,
      ),
    ]);
  });

  test("a policy that is dropped", async () => {
    await execute(installation.database.ownerUrl, "DROP POLICY tenant ON patients");
    expect(await complaints()).toEqual([
      expect.stringMatching(
        /^failure schema: policy patients\.tenant is missing; 0054-patient-policy created it\. Run as the owner: CREATE/,
      ),
      expect.stringMatching(/^failure row security: .* in patients/),
    ]);
  });
});

describe("the doctor reports damage that needs a superuser:", () => {
  test.each<[string, string, RegExp]>([
    [
      "an index that is not valid",
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'appointments_start_idx'::regclass",
      /^warning schema: index .*\(invalid\)\. Run as the owner: REINDEX INDEX CONCURRENTLY "appointments_start_idx"$/,
    ],
    [
      "an exclusion constraint whose index is not valid",
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'appointments_patient_excl'::regclass",
      /^failure schema: constraint appointments\.appointments_patient_excl is not as .*\(its index is invalid\)\. Run as the owner when there is little traffic: REINDEX INDEX "appointments_patient_excl"$/,
    ],
  ])("%s", async (_, statement, complaint) => {
    await execute(installation.database.adminUrl, statement);
    expect(await complaints()).toEqual([expect.stringMatching(complaint)]);
  });

  test("foreign keys whose triggers are disabled", async () => {
    await execute(installation.database.adminUrl, "ALTER TABLE contracts DISABLE TRIGGER ALL");
    expect(await complaints()).toContainEqual(
      expect.stringMatching(
        /^failure schema: constraint contracts\.\w+fkey is .*\(its triggers are disabled\)\. Run as a superuser: ALTER TABLE contracts ENABLE TRIGGER ALL$/,
      ),
    );
  });
});

describe("the doctor reports nothing for a migrated database", () => {
  test("with partitions of other months", async () => {
    await execute(
      installation.database.ownerUrl,
      "SELECT cupo_make_partition('audit_events', 'id', date_trunc('month', now(), 'UTC') + interval '14 months')",
    );
    expect(await complaints()).toEqual([]);
  });

  test("with settings that change how definitions are written", async () => {
    const { pathname } = new URL(installation.database.url);
    const settings = [
      "IntervalStyle = 'iso_8601'",
      "DateStyle = 'ISO, DMY'",
      "TimeZone = 'America/Bogota'",
      "quote_all_identifiers = on",
      "standard_conforming_strings = off",
    ];
    for (const setting of settings)
      await execute(installation.database.ownerUrl, `ALTER DATABASE "${pathname.slice(1)}" SET ${setting}`);
    expect(await complaints()).toEqual([]);
  });

  test("with additional tables", async () => {
    await execute(installation.database.adminUrl, "CREATE TABLE theirs (id integer); GRANT SELECT ON theirs TO PUBLIC");
    expect(await complaints()).toEqual([]);
  });
});
