import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { execute } from "../support/database.js";
import { admitPatient, type Patient, told } from "./patient.js";

let patient: Patient;

beforeEach(async () => {
  patient = await admitPatient();
});

afterEach(() => patient.remove());

describe("of tables that are parted by month", () => {
  test("that partitions are there for the weeks to come is ok, and up to when and for how long is said", async () => {
    expect(told(await patient.examine(), "partitions")).toEqual([
      expect.stringMatching(/^ok: there for what is made before \d{4}-\d\d-01T00:00:00\.000Z; .* is kept for good$/),
    ]);
  });

  test("that they are not is a warning", async () => {
    await execute(
      patient.database.ownerUrl,
      "ALTER TABLE audit_events DETACH PARTITION audit_events_first",
      `ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE)
         TO (cupo_least_id(now() + interval '27 days'))`,
    );
    expect(told(await patient.examine(), "partitions")).toEqual([
      "warning: none for the next four weeks in audit_events",
    ]);
  });

  test("that rows have none is a warning", async () => {
    await execute(
      patient.database.adminUrl,
      `INSERT INTO patient_access_records (tenant_id, id, patient_id, operation, principal, correlation_id)
       SELECT id, id, id, 'Service/Method', 'issuer client', id
       FROM (SELECT cupo_least_id(now() + interval '90 days') AS id) AS one`,
    );
    expect(told(await patient.examine(), "partitions")).toEqual([
      "warning: rows that have none in patient_access_records",
    ]);
  });

  test("that they are kept for another time than the settings say is a warning, until the owner migrates with it", async () => {
    const settings = { AUDIT_RETENTION_MONTHS: "24" };
    expect(told(await patient.examine(settings), "partitions")).toEqual([
      "warning: the audit trail is kept for good, and AUDIT_RETENTION_MONTHS says for 24 months",
    ]);
    await migrate({ url: patient.database.ownerUrl, auditRetentionMonths: 24 });
    expect(told(await patient.examine(settings), "partitions")).toEqual([
      expect.stringMatching(/^ok: .* is kept for 24 months$/),
    ]);
  });

  test("nothing is said where there are none yet", async () => {
    await execute(patient.database.ownerUrl, "DROP TABLE schema_partitions");
    expect(told(await patient.examine(), "partitions")).toEqual([]);
  });
});
