import { randomUUID } from "node:crypto";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import type { TestService } from "../support/service.js";

/** A clinic of its own with appointments in the year before today, and with two payers. */
export interface LargeClinic extends Clinic {
  readonly tenantId: string;
  readonly payerIds: readonly string[];
}

/**
 * Makes a clinic with `count` appointments of the year before today, in the statuses and with the dates that waits have:
 * booked up to 60 days after the request, 0 to 45 days before the visit, replaced, moved and missed ones. Some were
 * written by a release that kept neither the request nor the booking. They are inserted without changes, as by such a
 * release.
 */
export async function openLargeClinic(service: TestService, count: number): Promise<LargeClinic> {
  const tenantId = randomUUID();
  const as = { tenantId };
  const [clinic, patientId, ...payerIds] = await Promise.all([
    openClinic(service, { as, rule: { validTo: day({ service }, 80) } }),
    fixtures.createPatient(service, {}, as),
    fixtures.payer.create(service, as),
    fixtures.payer.create(service, as),
  ]);
  const other = await openClinic(service, { as, materialized: false, program: { code: randomUUID() } });
  const attributes = [clinic, other].map(({ programId, serviceId, practitionerIds: [practitioner] }) => {
    return `('${programId}'::uuid, '${serviceId}'::uuid, '${practitioner}'::uuid)`;
  });
  await service.query(`INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id,
      local_date, starts_at, ends_at, status, version, request_source_id, appointment_type_id, requested_on, due_on, assigned_on,
      first_visit, payer_id, overbooked, overbooking_reason, created_at, updated_at)
    SELECT p.tenant_id, gen_random_uuid(), '${patientId}', o.service_id, p.id, o.practitioner_id, p.location_id, d.day,
      t.at, t.at + interval '1 minute', s.status, 1, '${clinic.requestSourceId}', '${clinic.appointmentTypeId}',
      CASE WHEN n % 10 > 0 THEN d.asked END, CASE WHEN n % 3 = 0 THEN d.asked + 20 END,
      CASE WHEN n % 10 > 1 THEN d.booked END, CASE WHEN n % 4 > 0 THEN n % 4 = 1 END,
      CASE WHEN n % 5 > 1 THEN ('{${payerIds.join()}}'::uuid[])[n % 5 / 2] END, true,
      '', d.booked + time '12:00', d.booked + time '12:00'
    FROM generate_series(0, ${count - 1}) AS n
    JOIN (VALUES (0, ${attributes[0]?.slice(1)}, (1, ${attributes[1]?.slice(1)}) AS o (number, program_id, service_id, practitioner_id)
      ON o.number = n % 7 / 5
    JOIN programs p ON p.id = o.program_id
    CROSS JOIN LATERAL (SELECT '${day(clinic, -365)}'::date + n % 365 AS day) AS v
    CROSS JOIN LATERAL (SELECT v.day, v.day - n * 13 % 46 AS booked, v.day - n * 13 % 46 - n * 29 % 61 AS asked) AS d
    CROSS JOIN LATERAL (SELECT (v.day + n / 365 * interval '1 minute') AT TIME ZONE 'America/Bogota' AS at) AS t
    CROSS JOIN LATERAL (SELECT ('{ATTENDED,ATTENDED,ATTENDED,NO_SHOW,CANCELLED,CONFIRMED}'::text[])[1 + n * 7 % 6] AS status) AS s`);
  return { ...clinic, tenantId, payerIds };
}
