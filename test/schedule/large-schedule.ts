import { randomUUID } from "node:crypto";
import * as fixtures from "../contract/fixtures.js";
import type { TestService } from "../support/service.js";
import { type Clinic, day, everyMorning, openClinic } from "./clinic.js";

/** A program with a large schedule, in a tenant of its own. */
export interface LargeClinic extends Clinic {
  readonly tenantId: string;
  readonly locationId: string;
  /** Has future appointments: one in every twentieth slot of the first practitioner. */
  readonly patientId: string;
  /** Has 300 past appointments, each with a comment. */
  readonly formerPatientId: string;
}

/** Number of dates with slots. */
const DATES = 91;
const MINUTES_A_DAY = 1_440;
const SLOTS_PER_BOOKING = 20;
const FORMER_APPOINTMENTS = 300;

/**
 * Opens a clinic with about `slots` slots around the clock, in a new tenant. Writes slots and appointments by SQL,
 * because the service would take minutes.
 */
export async function openLargeClinic(service: TestService, slots: number): Promise<LargeClinic> {
  const tenantId = randomUUID();
  const as = { tenantId };
  const minutes = slots < 50_000 ? 16 : 2;
  const staff = Math.max(1, Math.round(slots / (DATES * (MINUTES_A_DAY / minutes))));
  const practitionerIds = await Promise.all(
    Array.from({ length: staff }, () => fixtures.practitioner.create(service, as)),
  );
  const times = { startsAtLocal: "00:00", endsAtLocal: "23:59", slotDurationMinutes: minutes, dailyCapacity: 10_000 };
  const rule = { ...everyMorning, ...times, holidayPolicy: "SKIP" };
  const clinic = await openClinic(service, { as, practitionerIds, rule, materialized: false });
  const patientId = await fixtures.createPatient(service, {}, as);
  const formerPatientId = await fixtures.createPatient(service, {}, as);
  const [program] = await service.query(
    `UPDATE programs SET materialized_through = '${day(clinic, DATES - 1)}', materialized_at = now()
     WHERE tenant_id = '${tenantId}' AND id = '${clinic.programId}' RETURNING location_id`,
  );
  const large = { ...clinic, tenantId, locationId: String(program?.["location_id"]), patientId, formerPatientId };
  await service.query(slotsOf(large, minutes));
  await service.query(bookingsOf(large, minutes));
  await service.query(formerAppointmentsOf(large));
  return large;
}

function slotsOf(clinic: LargeClinic, minutes: number): string {
  const { service, tenantId, programId, ruleId, practitionerIds } = clinic;
  const step = `interval '${minutes} min'`;
  return `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
    SELECT '${tenantId}', gen_random_uuid(), '${programId}', '${ruleId}', practitioner, date, start + i * ${step},
      start + (i + 1) * ${step}, 1
    FROM generate_series(0, ${DATES - 1}) AS n, LATERAL (SELECT '${day(clinic, 0)}'::date + n AS date) AS d,
      LATERAL (SELECT date::timestamp AT TIME ZONE 'America/Bogota' AS start) AS s,
      generate_series(0, ${MINUTES_A_DAY / minutes - 1}) AS i, unnest('{${practitionerIds.join()}}'::uuid[]) AS practitioner
    WHERE start + i * ${step} > '${new Date(service.now()).toISOString()}'`;
}

function bookingsOf({ tenantId, practitionerIds, patientId, ...clinic }: LargeClinic, minutes: number): string {
  return `WITH booked AS (SELECT *, gen_random_uuid() AS booking FROM slots
      WHERE tenant_id = '${tenantId}' AND practitioner_id = '${practitionerIds[0]}'
        AND mod(extract(epoch FROM starts_at)::bigint / ${minutes * 60}, ${SLOTS_PER_BOOKING}) = 0),
    kept AS (INSERT INTO appointments (${APPOINTMENT}) SELECT tenant_id, booking, '${patientId}', '${clinic.serviceId}',
      program_id, practitioner_id, '${clinic.locationId}', starts_at, ends_at, 'CONFIRMED', 1, now(), now(), rule_id,
      local_date, '${clinic.requestSourceId}', '${clinic.appointmentTypeId}', NULL FROM booked RETURNING id)
    UPDATE slots SET appointment_id = booking FROM booked, kept WHERE slots.id = booked.id AND kept.id = booking`;
}

function formerAppointmentsOf({ service, tenantId, practitionerIds, ...clinic }: LargeClinic): string {
  return `INSERT INTO appointments (${APPOINTMENT}) SELECT '${tenantId}', gen_random_uuid(), '${clinic.formerPatientId}',
      '${clinic.serviceId}', '${clinic.programId}', '${practitionerIds[0]}', '${clinic.locationId}', start,
      start + interval '20 min', 'ATTENDED', 1, now(), now(), '${clinic.ruleId}',
      (start AT TIME ZONE 'America/Bogota')::date, '${clinic.requestSourceId}', '${clinic.appointmentTypeId}', 'Llega tarde'
    FROM generate_series(1, ${FORMER_APPOINTMENTS}) AS n,
      LATERAL (SELECT '${new Date(service.now()).toISOString()}'::timestamptz - n * interval '1 hour' AS start) AS s`;
}

const APPOINTMENT = `tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at, ends_at,
  status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id, comment`;
