import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { execute } from "../support/database.js";
import { createInstallation, type Installation, linesOf } from "./installation.js";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

describe("the check of tables partitioned by month", () => {
  test("is ok if partitions exist for the next weeks, and reports their end and the retention", async () => {
    expect(linesOf(await installation.examine(), "partitions")).toEqual([
      expect.stringMatching(/^ok: created until \d{4}-\d\d-01T00:00:00\.000Z, not distributed; .* is kept forever$/),
    ]);
  });

  test("warns if partitions of the next weeks are missing", async () => {
    await execute(
      installation.database.ownerUrl,
      "ALTER TABLE audit_events DETACH PARTITION audit_events_first",
      `ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE)
         TO (cupo_least_id(now() + interval '27 days'))`,
    );
    expect(linesOf(await installation.examine(), "partitions")).toEqual([
      "warning: not created for the next four weeks in audit_events",
    ]);
  });

  test("warns about rows in a default partition", async () => {
    await execute(
      installation.database.adminUrl,
      `INSERT INTO patient_access_records (tenant_id, id, patient_id, operation, principal, correlation_id)
       SELECT id, id, id, 'Service/Method', 'issuer client', id
       FROM (SELECT cupo_least_id(now() + interval '90 days') AS id) AS one`,
    );
    expect(linesOf(await installation.examine(), "partitions")).toEqual([
      "warning: rows without a partition in patient_access_records",
    ]);
  });

  test("warns if the retention differs from the settings, until the owner migrates", async () => {
    const settings = { AUDIT_RETENTION_MONTHS: "24" };
    expect(linesOf(await installation.examine(settings), "partitions")).toEqual([
      "warning: the audit trail is kept forever, but AUDIT_RETENTION_MONTHS says for 24 months",
    ]);
    await migrate({ url: installation.database.ownerUrl, auditRetentionMonths: 24 });
    expect(linesOf(await installation.examine(settings), "partitions")).toEqual([
      expect.stringMatching(/^ok: .* is kept for 24 months$/),
    ]);
  });

  test("reports nothing if there are no partitioned tables yet", async () => {
    await execute(installation.database.ownerUrl, "DROP TABLE schema_partitions");
    expect(linesOf(await installation.examine(), "partitions")).toEqual([]);
  });
});
