import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OperationsService } from "../../src/gen/cupo/clinic/v1/operations_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { type AppointmentBody, bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";

const { verifyInvariants } = OperationsService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("VerifyInvariants", () => {
  test("reports nothing in a tenant without bookings", async () => {
    expect(await reportFor({ as: { tenantId: randomUUID() } })).toEqual(counts(0));
  });

  test("reports nothing wrong with the service's own writes, and counts live appointments", async () => {
    const { clinic, appointments } = await openBusyClinic();
    const [confirmed, cancelled] = appointments as [AppointmentBody, AppointmentBody, AppointmentBody];
    await mustCall(clinic, "ConfirmAppointment", { appointmentId: confirmed.appointmentId, expectedVersion: 1 });
    expect(await reportFor(clinic)).toEqual(counts(3));
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const request = { appointmentId: cancelled.appointmentId, cancellationReasonId, expectedVersion: 1 };
    await mustCall(clinic, "CancelAppointment", request);
    expect(await reportFor(clinic)).toEqual(counts(2));
  });

  const first = "(SELECT min(id::text)::uuid FROM appointments WHERE tenant_id = :tenant)";

  test.each<[string, readonly string[], string]>([
    [
      "a slot that lost its appointment",
      ["APPOINTMENT_WITHOUT_SLOT 1 appointment", "DAY_COUNT_WRONG 1 rule"],
      `UPDATE slots SET appointment_id = NULL WHERE tenant_id = :tenant AND appointment_id = ${first}`,
    ],
    [
      "a slot that a cancelled appointment still occupies",
      ["DAY_COUNT_WRONG 1 rule", "HISTORY_WRONG 1 appointment", "SLOT_WRONG 1 slot"],
      `UPDATE appointments SET status = 'CANCELLED' WHERE tenant_id = :tenant AND id = ${first}`,
    ],
    [
      "a slot at another time than its appointment",
      ["SLOT_WRONG 1 slot"],
      `UPDATE slots SET ends_at = '2100-01-01T00:00Z' WHERE tenant_id = :tenant AND appointment_id = ${first}`,
    ],
    [
      "counters that are too high",
      ["DAY_COUNT_WRONG 2 rule"],
      "UPDATE day_counters SET booked = booked + 1 WHERE tenant_id = :tenant",
    ],
    ["counters that are gone", ["DAY_COUNT_WRONG 2 rule"], "DELETE FROM day_counters WHERE tenant_id = :tenant"],
    [
      "a version without its history",
      ["HISTORY_WRONG 1 appointment"],
      `UPDATE appointments SET version = 2 WHERE tenant_id = :tenant AND id = ${first}`,
    ],
    [
      "a history with a gap",
      ["AUDIT_MISSING 1 appointment", "HISTORY_WRONG 1 appointment"],
      `UPDATE appointment_history SET version = 2 WHERE tenant_id = :tenant AND appointment_id = ${first}`,
    ],
    [
      "no audit row",
      ["AUDIT_MISSING 3 appointment"],
      "DELETE FROM audit_events WHERE tenant_id = :tenant AND resource_type = 'Appointment'",
    ],
    [
      "a patient with overlapping appointments",
      ["PATIENT_OVERLAP 1 appointment"],
      `UPDATE appointments SET patient_id = (SELECT patient_id FROM appointments WHERE tenant_id = :tenant AND id = ${first})
       WHERE tenant_id = :tenant`,
    ],
    [
      "an appointment of a patient who was merged into another",
      ["MERGED_PATIENT_IN_USE 1 patient"],
      `UPDATE patients SET status = 'INACTIVE', merged_into = (SELECT max(p.id::text)::uuid FROM patients p WHERE p.tenant_id = :tenant)
       WHERE tenant_id = :tenant AND id = (SELECT min(p.id::text)::uuid FROM patients p WHERE p.tenant_id = :tenant)`,
    ],
    [
      "a future appointment of an erased patient",
      ["ERASED_PATIENT_KNOWN 1 patient"],
      `UPDATE patients SET status = 'INACTIVE', erased_at = now(), email = NULL, search_words = '{}', document_type = '',
         document_number = '', document_type_key = '', document_number_key = '', full_name = '', phone = ''
       WHERE tenant_id = :tenant AND id = (SELECT min(p.id::text)::uuid FROM patients p WHERE p.tenant_id = :tenant)`,
    ],
    [
      "an appointment of an unknown status",
      [
        "APPOINTMENT_INVALID 1 appointment",
        "DAY_COUNT_WRONG 1 rule",
        "HISTORY_WRONG 1 appointment",
        "SLOT_WRONG 1 slot",
      ],
      `UPDATE appointments SET status = 'NEW' WHERE tenant_id = :tenant AND id = ${first}`,
    ],
    [
      "a retained slot without a cause",
      ["SLOT_INVALID 1 slot"],
      `UPDATE slots SET retained = true WHERE tenant_id = :tenant AND appointment_id = ${first}`,
    ],
    [
      "a patient who was erased and still has a name",
      ["ERASED_PATIENT_KNOWN 1 patient"],
      `INSERT INTO patients (tenant_id, id, document_type, document_type_key, document_number, document_number_key, full_name, phone, status, erased_at)
       VALUES (:tenant, gen_random_uuid(), '', '', '', '', 'Ana', '', 'INACTIVE', now())`,
    ],
    [
      "a patient who was merged into another and is not inactive",
      ["MERGED_PATIENT_IN_USE 1 patient"],
      `INSERT INTO patients (tenant_id, id, document_type, document_type_key, document_number, document_number_key, full_name, phone, merged_into)
       SELECT :tenant, gen_random_uuid(), '', '', '', '', '', '', min(p.id::text)::uuid FROM patients p WHERE p.tenant_id = :tenant`,
    ],
    [
      "a practitioner with overlapping appointments",
      ["HISTORY_WRONG 1 appointment", "PRACTITIONER_OVERLAP 1 appointment", "SLOT_WRONG 1 slot"],
      `UPDATE appointments a SET practitioner_id = (SELECT max(b.practitioner_id::text)::uuid FROM appointments b
         WHERE b.tenant_id = a.tenant_id AND b.local_date = a.local_date) WHERE a.tenant_id = :tenant`,
    ],
    [
      "a series of several patients",
      ["SERIES_OF_SEVERAL 2 appointment"],
      "UPDATE appointments SET series_id = tenant_id WHERE tenant_id = :tenant",
    ],
    [
      "a webhook whose cursor is after the feed",
      ["WEBHOOK_CURSOR_WRONG 1 webhook"],
      `WITH feed AS (INSERT INTO event_feeds (tenant_id) VALUES (:tenant) RETURNING feed_id)
       INSERT INTO webhooks (tenant_id, id, url, resource_types, event_types, state, secret, feed_id, position, version, created_at, updated_at)
       SELECT :tenant, gen_random_uuid(), 'https://example.com', '{}', '{}', 'ACTIVE', '', feed_id, 1, 1, now(), now() FROM feed`,
    ],
    [
      "a webhook that got a later event of a resource before an earlier one",
      ["WEBHOOK_ORDER_WRONG 1 webhook"],
      `WITH webhook AS (
         INSERT INTO webhooks (tenant_id, id, url, resource_types, event_types, state, secret, feed_id, position, version, created_at, updated_at)
         VALUES (:tenant, gen_random_uuid(), 'https://example.com', '{}', '{}', 'ACTIVE', '', gen_random_uuid(), 1, 1, now(), now())
         RETURNING id, feed_id)
       INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, position, event_id, event_type, occurred_at, resource_type,
         resource_id, correlation_id, state)
       SELECT :tenant, w.id, gen_random_uuid(), e.position, gen_random_uuid(), '', now(), 'Location', w.feed_id, gen_random_uuid(), e.state
       FROM webhook w CROSS JOIN (VALUES (1, 'PENDING'), (2, 'DELIVERED'), (3, 'PENDING')) AS e (position, state)`,
    ],
  ])("reports %s", async (_, expected, defect) => {
    const { clinic } = await openBusyClinic();
    await service.query(
      `ALTER TABLE appointments DROP CONSTRAINT IF EXISTS appointments_patient_excl,
       DROP CONSTRAINT IF EXISTS appointments_practitioner_excl`,
    );
    await service.query(defect.replaceAll(":tenant", `'${clinic.as.tenantId}'`));
    const { findings } = await reportFor(clinic);
    const shown = findings.map(async ({ name, count, exampleIds }) => `${name} ${count} ${await kindOf(exampleIds)}`);
    expect(await Promise.all(shown)).toEqual(expected);
  });

  test("ignores whether audit rows past their retention have been purged", async () => {
    const { clinic } = await openBusyClinic();
    await service.query(`DELETE FROM audit_events WHERE tenant_id = '${clinic.as.tenantId}'`);
    const missingWhere = async (kept: string, changedAt: string) => {
      await service.query(`UPDATE schema_partitions SET ${kept} WHERE table_name = 'audit_events'`);
      const ofTenant = `WHERE tenant_id = '${clinic.as.tenantId}'`;
      await service.query(`UPDATE appointment_history SET changed_at = ${changedAt} ${ofTenant}`);
      const { findings } = await reportFor(clinic);
      return findings.map(({ name }) => name);
    };
    try {
      expect(await missingWhere("kept_months = 12", "now() - interval '11 months'")).toEqual(["AUDIT_MISSING"]);
      expect(await missingWhere("kept_months = 12", "now() - interval '13 months'")).toEqual([]);
      const dropped = "kept_months = NULL, dropped_before = now()";
      expect(await missingWhere(dropped, "now() + interval '25 hours'")).toEqual(["AUDIT_MISSING"]);
      expect(await missingWhere(dropped, "now()")).toEqual([]);
      const atInstant = "kept_months = NULL, dropped_before = '2026-01-01T00:00:00Z'";
      expect(await missingWhere(atInstant, "'2026-01-02T00:00:00Z'")).toEqual(["AUDIT_MISSING"]);
    } finally {
      await missingWhere("kept_months = NULL, dropped_before = NULL", "now()");
    }
  });

  test("lists at most ten examples of a finding", async () => {
    const as = { tenantId: randomUUID() };
    const clinic = await openClinic(service, { as });
    const patientId = await fixtures.patient.create(service, as);
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const date = day(clinic, 2 + i);
      ids.push((await bookFirst(clinic, patientId, { dateFrom: date, dateTo: date })).appointmentId);
    }
    await service.query(`UPDATE slots SET appointment_id = NULL WHERE tenant_id = '${as.tenantId}'`);
    const { findings } = await reportFor(clinic);
    const exampleIds = ids.toSorted().slice(0, 10);
    expect(findings).toContainEqual({ name: "APPOINTMENT_WITHOUT_SLOT", count: 12, exampleIds });
  });
});

interface Report {
  readonly findings: readonly {
    readonly name: string;
    readonly count: number;
    readonly exampleIds: readonly string[];
  }[];
}

async function reportFor({ as }: Pick<Clinic, "as">): Promise<Report> {
  const { body } = await callRpc(service, verifyInvariants, {}, { as });
  const { verifiedAt, ...report } = body["invariantReport"] as JsonObject;
  expect(Math.abs(Date.parse(verifiedAt as string) - service.now())).toBeLessThan(60_000);
  return report as unknown as Report;
}

function counts(count: number) {
  return {
    findings: [],
    liveAppointmentCount: count,
    occupiedSlotCount: count,
    countedBookingCount: count,
    overbookedAppointmentCount: 0,
  };
}

/** Opens a tenant with three appointments of three patients with two practitioners. Two are at the same time. */
async function openBusyClinic() {
  const as = { tenantId: randomUUID() };
  const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, as)));
  const clinic = await openClinic(service, { as, practitionerIds });
  const appointments: AppointmentBody[] = [];
  for (const days of [2, 2, 3]) {
    const date = day(clinic, days);
    const patientId = await fixtures.patient.create(service, as);
    appointments.push(await bookFirst(clinic, patientId, { dateFrom: date, dateTo: date }));
  }
  expect(appointments[0]?.startsAt).toBe(appointments[1]?.startsAt);
  return { clinic, appointments };
}

/** Returns the kind of resource of these ids. */
async function kindOf(ids: readonly string[]): Promise<string> {
  const tables = {
    appointment: "appointments",
    slot: "slots",
    rule: "program_rules",
    patient: "patients",
    webhook: "webhooks",
  };
  const parts = Object.entries(tables).map(
    ([kind, table]) => `SELECT '${kind}' AS kind FROM ${table} WHERE id = ANY('{${ids.join()}}')`,
  );
  const kinds = await service.query(parts.join(" UNION "));
  return kinds.map(({ kind }) => kind as string).join(" and ");
}
