import { numbered } from "./schedule-fill.js";

/** Attributes of a stored appointment in a schedule of `fillSchedule`. The ids are numbers of rows. */
export interface AppointmentRow {
  readonly startsAt: string;
  readonly patient?: number;
  readonly practitioner?: number;
  readonly program?: number;
  readonly service?: number;
  readonly status?: string;
}

/** Returns SQL for an appointment of 20 minutes. Defaults to the first patient, practitioner, program and service. */
export function appointmentRow(tenantId: string, id: number, row: AppointmentRow): string {
  const { startsAt, patient = 1, practitioner = 1, program = 1, service = 1, status = "PENDING" } = row;
  const [people, place] = [
    [patient, practitioner],
    [program, service],
  ].map((numbers) => numbers.map((number) => `'${numbered(number)}'`).join(", "));
  return `INSERT INTO appointments (tenant_id, id, patient_id, practitioner_id, program_id, service_id, status, starts_at,
      ends_at, location_id, request_source_id, appointment_type_id, rule_id, local_date, version, created_at, updated_at)
    SELECT '${tenantId}', '${numbered(id)}', ${people}, ${place}, '${status}', start, start + interval '20 min', one, one,
      one, '${numbered(program)}', (start AT TIME ZONE 'America/Bogota')::date, 1, now(), now()
    FROM (SELECT timestamptz '${startsAt}' AS start, '${numbered(1)}'::uuid AS one) AS given`;
}
