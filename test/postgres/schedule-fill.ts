/** The size of a tenant's schedule. */
export interface ScheduleSize {
  /** Future slots. One in ten is occupied, the others are free. */
  readonly slotsAhead: number;
  /** Past slots, each with an appointment. */
  readonly slotsBehind: number;
  /** Whether each version of an appointment has an audit event. */
  readonly isAudited?: boolean;
}

export const PROGRAMS = 10;
/** Slots of twenty minutes, from 7:00 to 15:00, every day. */
export const SLOTS_A_DAY = 24;
const DAYS_AHEAD = 90;
/** Number of past days with day counters and blocks. */
const DAYS_BEHIND = 400;
const PATIENTS = 2_000;
/** Number of changes of the first appointment. */
export const CHANGES = 500;
/** Start of the first future slot: 7:00 in Bogotá. */
export const FIRST_START = "2030-01-07T12:00:00Z";

/** Returns the n-th id of a tenant's rows. */
export function numbered(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

/** Returns the number of practitioners of a schedule. The n-th one works in program n modulo the number of programs. */
export function staffOf({ slotsAhead }: ScheduleSize): number {
  return Math.max(PROGRAMS, Math.ceil(slotsAhead / (DAYS_AHEAD * SLOTS_A_DAY)));
}

/**
 * Returns statements that fill the schedule of a tenant. Row ids contain the number of their slot. All programs offer
 * one service. One in four appointments of the last practitioner is of the first patient. The occupied slots of the
 * first program are retained. Every fifth day is full.
 */
export function fillSchedule(tenant: string, size: ScheduleSize): string[] {
  return [...fillGround(tenant, size), ...fillBookings(tenant, size)];
}

/**
 * Returns statements that add settings, the practitioners of each program, and a block of an hour for each on each day.
 * They can run repeatedly.
 */
export function fillBlocks(tenant: string, size: ScheduleSize): string[] {
  const staff = `FROM generate_series(1, ${staffOf(size)}) AS n`;
  return [
    `INSERT INTO tenant_settings (tenant_id, version, created_at, updated_at) VALUES ('${tenant}', 1, now(), now())
     ON CONFLICT DO NOTHING`,
    `INSERT INTO program_practitioners (tenant_id, program_id, practitioner_id, position)
     SELECT '${tenant}', ${idOf(`(n - 1) % ${PROGRAMS} + 1`)}, ${ID}, 0 ${staff} ON CONFLICT DO NOTHING`,
    `INSERT INTO schedule_blocks (tenant_id, id, practitioner_id, starts_at, ends_at, kind, version, created_at, updated_at)
     SELECT '${tenant}', gen_random_uuid(), ${ID}, time, time + interval '1 hour', 'MEETING', 1, now(), now()
     ${staff}, generate_series(-${DAYS_BEHIND}, 1) AS day,
       LATERAL (SELECT '${FIRST_START}'::timestamptz + day * interval '1 day' AS time) AS t`,
  ];
}

const ID = idOf("n");
const NAMED = "true, 1, now(), now()";

function fillGround(tenant: string, size: ScheduleSize): string[] {
  const from = (count: number) => `FROM generate_series(1, ${count}) AS n`;
  const head = `SELECT '${tenant}', ${ID}`;
  const columns = "(tenant_id, id, code, name, active, version, created_at, updated_at";
  return [
    `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
       full_name, phone) ${head}, 'CC', n::text, 'CC', n::text, 'Ana María Pérez', '+57 300 555 0100' ${from(PATIENTS)}`,
    `INSERT INTO healthcare_services ${columns}) ${head}, n::text, 'Medicina general', ${NAMED} ${from(20)}`,
    `INSERT INTO locations ${columns}) ${head}, n::text, 'Sede', ${NAMED} ${from(3)}`,
    `INSERT INTO request_sources ${columns}, channel) ${head}, n::text, 'Teléfono', ${NAMED}, 'PHONE' ${from(1)}`,
    `INSERT INTO opportunity_definitions ${columns}, max_wait_days, day_kind)
     ${head}, n::text, 'Prioritaria', ${NAMED}, 3, 'BUSINESS' ${from(1)}`,
    `INSERT INTO appointment_types ${columns}, duration_minutes, opportunity_definition_id)
     ${head}, n::text, 'Control', ${NAMED}, 20, ${ID} ${from(1)}`,
    `INSERT INTO practitioners (tenant_id, id, code, full_name, active, version, created_at, updated_at)
     ${head}, n::text, 'Médica', ${NAMED} ${from(staffOf(size))}`,
    `INSERT INTO programs ${columns}, emergency, location_id)
     ${head}, n::text, 'Programa', ${NAMED}, false, ${idOf("n % 3 + 1")} ${from(PROGRAMS)}`,
    `INSERT INTO program_services (tenant_id, program_id, service_id, position)
     SELECT '${tenant}', ${ID}, '${numbered(1)}', 0 ${from(PROGRAMS)}`,
    `INSERT INTO program_rules (tenant_id, id, program_id, active, daily_capacity, slot_duration_minutes, starts_at_local,
       ends_at_local, recurrence, weekdays, valid_from, valid_to, holiday_dates, holiday_policy, version, created_at,
       updated_at)
     ${head}, ${ID}, true, 10000, 20, '07:00', '15:00', 'WEEKLY', '{1,2,3,4,5,6,7}', '2020-01-01', '2099-12-31', '{}',
       'SKIP', 1, now(), now() ${from(PROGRAMS)}`,
    `INSERT INTO day_counters (tenant_id, rule_id, local_date, booked)
     SELECT '${tenant}', ${ID}, '${FIRST_START}'::date + day, CASE WHEN day % 5 = 4 THEN 10000 ELSE n END
     ${from(PROGRAMS)}, generate_series(${-DAYS_BEHIND}, ${DAYS_AHEAD}) AS day`,
  ];
}

function fillBookings(tenant: string, { isAudited = false, ...size }: ScheduleSize): string[] {
  const changed = `'issuer client', ${ID}, starts_at - interval '1 day'`;
  return [
    `INSERT INTO appointments (tenant_id, id, patient_id, service_id, program_id, practitioner_id, location_id, starts_at,
       ends_at, status, version, created_at, updated_at, rule_id, local_date, request_source_id, appointment_type_id)
     SELECT '${tenant}', ${ID}, patient_id, '${numbered(1)}', program_id, practitioner_id, '${numbered(1)}', starts_at,
       ends_at, status, CASE n WHEN 1 THEN ${CHANGES} ELSE 1 END, now(), now(), program_id, local_date, '${numbered(1)}',
       '${numbered(1)}' FROM ${slots(size)} WHERE is_booked`,
    `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation,
       retained, retained_by, appointment_id)
     SELECT '${tenant}', ${ID}, program_id, program_id, practitioner_id, local_date, starts_at, ends_at, 1,
       is_booked AND NOT is_past AND program_id = '${numbered(PROGRAMS)}',
       CASE WHEN is_booked AND NOT is_past AND program_id = '${numbered(PROGRAMS)}' THEN 'RULES' END,
       CASE WHEN is_booked THEN ${ID} END FROM ${slots(size)} WHERE status NOT IN ('CANCELLED', 'NO_SHOW')`,
    `INSERT INTO appointment_history (tenant_id, appointment_id, version, to_status, to_starts_at, to_ends_at, to_program_id,
       to_practitioner_id, principal, correlation_id, changed_at)
     SELECT '${tenant}', ${ID}, v, status, starts_at, ends_at, program_id, practitioner_id, ${changed}
     FROM ${slots(size)}, generate_series(1, CASE n WHEN 1 THEN ${CHANGES} ELSE 1 END) AS v WHERE is_booked`,
    `INSERT INTO audit_events (tenant_id, id, operation, principal, correlation_id, action, resource_type, resource_id,
       resource_version)
     SELECT '${tenant}', gen_random_uuid(), 'Service/Method', 'issuer client', ${ID}, 'UPDATE', 'Appointment', ${ID}, v
     FROM ${slots(size)}, generate_series(1, CASE n WHEN 1 THEN ${CHANGES} ELSE 1 END) AS v
     WHERE is_booked AND ${isAudited}`,
  ];
}

/**
 * Returns SQL for the past and future slots by number: the slots of all practitioners at one time, then those of the
 * next.
 */
function slots(size: Omit<ScheduleSize, "isAudited">): string {
  const staff = staffOf(size);
  const turnsBehind = Math.ceil(size.slotsBehind / staff);
  const count = turnsBehind * staff + size.slotsAhead;
  const day = `floor(turn::numeric / ${SLOTS_A_DAY})`;
  const start = `timestamptz '${FIRST_START}' + ${day} * interval '1 day'
    + (turn - ${day} * ${SLOTS_A_DAY}) * interval '20 min'`;
  return `(SELECT n, turn < 0 AS is_past, turn < 0 OR (turn + p) % 10 = 3 AS is_booked,
      ${idOf(`CASE WHEN p = 0 AND turn % 4 = 0 THEN 1 ELSE 2 + n % ${PATIENTS - 2} END`)} AS patient_id,
      ${idOf(`CASE p WHEN 0 THEN ${staff} ELSE p END`)} AS practitioner_id,
      ${idOf(`CASE p % ${PROGRAMS} WHEN 0 THEN ${PROGRAMS} ELSE p % ${PROGRAMS} END`)} AS program_id,
      starts_at, starts_at + interval '20 min' AS ends_at, (starts_at AT TIME ZONE 'America/Bogota')::date AS local_date,
      CASE WHEN turn < 0 THEN CASE (n / 7) % 20 WHEN 0 THEN 'CANCELLED' WHEN 1 THEN 'NO_SHOW' ELSE 'ATTENDED' END
        WHEN turn < 8 THEN 'CHECKED_IN' ELSE CASE n % 2 WHEN 0 THEN 'PENDING' ELSE 'CONFIRMED' END END AS status
    FROM (SELECT n, p, turn, ${start} AS starts_at FROM (
      SELECT n, n % ${staff} AS p, (n - 1) / ${staff} - ${turnsBehind} AS turn FROM generate_series(1, ${count}) AS n
    ) AS turns) AS timed) AS each`;
}

function idOf(number: string): string {
  return `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
}
