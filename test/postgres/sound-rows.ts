import { numbered } from "./schedule-fill.js";

/** The time of the check. */
export const NOW = "2030-01-01T00:00:00Z";
/** The check covers holds that expire later than this. */
const HELD_AFTER = "2030-01-01T00:00:30Z";
/** The numbers of an erased patient and of one who was merged into another. */
export const [ERASED, MERGED] = [2_001, 2_002];

/** Returns SQL for a time of day on the date of the rows. */
export function at(time: string): string {
  return `timestamptz '2030-01-08T${time}:00-05:00'`;
}

/** Returns a statement that changes the row with a number. */
export function set(table: string, id: number, change: string): string {
  return `UPDATE ${table} SET ${change} WHERE id = '${numbered(id)}'`;
}

/**
 * Returns statements that add rows of every kind to a schedule of {@link fillSchedule}. The rows come close to a violation
 * of an invariant, but break only those about the history, the audit rows, and the slots of appointments.
 */
export function soundRows(tenantId: string): string[] {
  return [
    "DELETE FROM day_counters",
    `DELETE FROM patients WHERE id > '${numbered(20)}'`,
    `INSERT INTO patients (tenant_id, id, document_type, document_type_key, document_number, document_number_key, full_name,
       phone, status, erased_at, merged_into)
     VALUES ('${tenantId}', '${numbered(ERASED)}', '', '', '', '', '', '', 'INACTIVE', now(), NULL),
       ('${tenantId}', '${numbered(MERGED)}', 'CC', 'CC', 'M', 'M', 'Ana', '', 'INACTIVE', NULL, '${numbered(1)}')`,
    ...appointments(tenantId),
    ...desk(tenantId),
    ...holds(tenantId),
    ...blocks(tenantId),
    ...slots(tenantId),
    ...webhooks(tenantId),
  ];
}

function appointments(tenantId: string): string[] {
  const insert = (id: number, [patient, practitioner]: [number, number], from: string, to: string) =>
    `INSERT INTO appointments (tenant_id, id, patient_id, practitioner_id, status, starts_at, ends_at, service_id, program_id,
       location_id, request_source_id, appointment_type_id, local_date, version, created_at, updated_at, rule_id)
     SELECT '${tenantId}', '${numbered(id)}', '${numbered(patient)}', '${numbered(practitioner)}', 'CONFIRMED', ${at(from)},
       ${at(to)}, one, one, one, one, one, '2030-01-08', 1, now(), now(), one FROM (SELECT '${numbered(1)}'::uuid AS one) AS first`;
  const overbooked = (reason: string) => `rule_id = NULL, overbooked = true, overbooking_reason = '${reason}'`;
  return [
    insert(101, [1, 1], "10:00", "10:20"),
    set("appointments", 101, `comment = 'Ayunas', series_id = '${numbered(1)}'`),
    insert(102, [4, 1], "10:30", "10:50"),
    insert(103, [5, 10], "10:10", "10:30"),
    set("appointments", 103, `${overbooked("Urgente")}, practitioner_id = '${numbered(1)}'`),
    insert(104, [8, 2], "09:40", "10:00"),
    insert(105, [ERASED, 8], "08:00", "08:20"),
    set("appointments", 105, `${overbooked("")}, status = 'ATTENDED'`),
    insert(106, [11, 6], "10:20", "10:40"),
    insert(107, [12, 9], "09:20", "09:40"),
    insert(108, [13, 9], "11:00", "11:20"),
    insert(109, [1, 3], "12:00", "12:20"),
    set("appointments", 109, `series_id = '${numbered(1)}'`),
  ];
}

function desk(tenantId: string): string[] {
  const closed = "now(), 'issuer client', ''";
  return [
    `INSERT INTO waitlist_entries (tenant_id, id, patient_id, service_id, date_from, date_to, preferred_periods, status,
       created_at, closed_at, closed_by, close_reason)
     VALUES ('${tenantId}', '${numbered(301)}', '${numbered(7)}', '${numbered(1)}', '2030-01-08', '2030-01-08', '{MORNING}',
         'ACTIVE', now(), NULL, NULL, NULL),
       ('${tenantId}', '${numbered(302)}', '${numbered(ERASED)}', '${numbered(1)}', '2030-01-08', '2030-01-08', '{MORNING}',
         'ACTIVE', now(), ${closed})`,
    `INSERT INTO user_attention_cases (tenant_id, id, patient_id, category, external_reference, description, status,
       created_at, closed_at, closed_by, close_reason)
     VALUES ('${tenantId}', '${numbered(311)}', '${numbered(1)}', 'CLAIM', '1', 'Espera', 'OPEN', now(), NULL, NULL, NULL),
       ('${tenantId}', '${numbered(312)}', '${numbered(ERASED)}', 'CLAIM', '2', '', 'OPEN', now(), ${closed})`,
    `INSERT INTO notes (tenant_id, id, patient_id, text, version, created_at, created_by, updated_at, updated_by, removed)
     VALUES ('${tenantId}', '${numbered(321)}', '${numbered(1)}', 'Ayunas', 1, now(), 'issuer client', now(), 'issuer client', false),
       ('${tenantId}', '${numbered(322)}', '${numbered(ERASED)}', NULL, 1, now(), 'issuer client', now(), 'issuer client', true)`,
  ];
}

function holds(tenantId: string): string[] {
  const insert = (id: number, [patient, practitioner]: [number, number], from: string, to: string) =>
    `INSERT INTO appointment_holds (tenant_id, id, patient_id, service_id, program_id, rule_id, practitioner_id, location_id,
       slot_id, local_date, starts_at, ends_at, uses_unit, principal, expires_at, created_at)
     SELECT '${tenantId}', '${numbered(id)}', '${numbered(patient)}', one, one, one, '${numbered(practitioner)}', one, one,
       '2030-01-08', ${at(from)}, ${at(to)}, false, 'issuer client', ${at("08:00")}, now()
     FROM (SELECT '${numbered(1)}'::uuid AS one) AS first`;
  return [
    insert(200, [17, 2], "10:40", "11:00"),
    insert(201, [2, 2], "10:00", "10:20"),
    set("appointment_holds", 201, "expires_at = starts_at, uses_unit = true"),
    insert(202, [3, 2], "10:20", "10:40"),
    insert(203, [1, 1], "10:10", "10:30"),
    set("appointment_holds", 203, `appointment_id = '${numbered(101)}'`),
    insert(204, [2, 3], "10:20", "10:40"),
    insert(205, [6, 4], "10:00", "10:20"),
    insert(206, [14, 4], "13:00", "13:20"),
    set("appointment_holds", 206, "ended_at = expires_at, uses_unit = true"),
    insert(207, [15, 4], "14:00", "14:20"),
    set("appointment_holds", 207, `expires_at = '${HELD_AFTER}', uses_unit = true`),
    insert(209, [16, 4], "15:00", "15:20"),
    set("appointment_holds", 209, `expires_at = timestamptz '${NOW}' + interval '10 s', uses_unit = true`),
    insert(208, [7, 5], "10:00", "10:20"),
    set("appointment_holds", 208, `waitlist_entry_id = '${numbered(301)}'`),
    `INSERT INTO day_counters (tenant_id, rule_id, local_date, booked, held)
     VALUES ('${tenantId}', '${numbered(1)}', '2030-01-08', 0, ARRAY[${at("10:00")}, '${HELD_AFTER}'])`,
  ];
}

function blocks(tenantId: string): string[] {
  const of = (id: number, target: string, targetId: number, from: string, to: string, updated = `'${NOW}'`) =>
    `INSERT INTO schedule_blocks (tenant_id, id, ${target}, starts_at, ends_at, kind, version, created_at, updated_at)
     VALUES ('${tenantId}', '${numbered(id)}', '${numbered(targetId)}', ${at(from)}, ${at(to)}, 'MEETING', 1, now(), ${updated})`;
  return [
    of(501, "practitioner_id", 6, "10:20", "10:40"),
    of(502, "practitioner_id", 6, "09:00", "09:20", at("09:00")),
    of(503, "program_id", 7, "10:20", "10:40"),
    of(504, "program_id", 8, "10:00", "10:20"),
    `UPDATE programs SET updated_at = CASE id WHEN '${numbered(8)}' THEN ${at("10:00")} ELSE '${NOW}' END`,
    of(505, "location_id", 3, "11:20", "11:40"),
    of(506, "practitioner_id", 6, "10:00", "10:20"),
    of(507, "practitioner_id", 9, "09:20", "09:40", at("09:20")),
    set("schedule_blocks", 506, "cancelled_at = updated_at"),
    set("schedule_blocks", 507, "cancelled_at = updated_at"),
  ];
}

function slots(tenantId: string): string[] {
  const insert = (id: number, place: number, from: string, to: string) =>
    `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
     SELECT '${tenantId}', '${numbered(id)}', place, place, place, '2030-01-08', ${at(from)}, ${at(to)}, 1
     FROM (SELECT '${numbered(place)}'::uuid AS place) AS one`;
  const retained = (appointment: number, cause: string, block: string) =>
    `appointment_id = '${numbered(appointment)}', retained = true, retained_by = '${cause}', retained_by_id = ${block}`;
  return [
    insert(401, 6, "10:00", "10:20"),
    insert(402, 6, "10:20", "10:40"),
    set("slots", 402, retained(106, "BLOCK", `'${numbered(501)}'`)),
    insert(403, 6, "10:40", "11:00"),
    insert(404, 6, "09:00", "09:20"),
    insert(405, 7, "10:00", "10:20"),
    insert(406, 7, "10:40", "11:00"),
    insert(407, 8, "10:00", "10:20"),
    insert(408, 9, "09:20", "09:40"),
    set("slots", 408, retained(107, "BLOCK", `'${numbered(507)}'`)),
    insert(409, 2, "11:00", "11:20"),
    insert(410, 9, "11:00", "11:20"),
    set("slots", 410, `${retained(108, "RULES", "NULL")}, retention_accepted = true`),
    insert(411, 1, "10:10", "10:30"),
    set("slots", 411, `appointment_id = '${numbered(103)}', rule_id = NULL`),
  ];
}

function webhooks(tenantId: string): string[] {
  const insert = (id: number, feed: string, position: number) =>
    `INSERT INTO webhooks (tenant_id, id, url, resource_types, event_types, state, secret, feed_id, position, version,
       created_at, updated_at)
     SELECT '${tenantId}', '${numbered(id)}', 'https://example.com', '{}', '{}', 'ACTIVE', '', ${feed}, ${position}, 1, now(), now()
     FROM event_feeds`;
  const deliver = (id: number, webhook: number, position: number, state: string, resource = 1, type = "Location") =>
    `INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, position, event_id, event_type, occurred_at, resource_type,
       resource_id, correlation_id, state, created_at)
     VALUES ('${tenantId}', '${numbered(webhook)}', '${numbered(id)}', ${position}, gen_random_uuid(), '', now(), '${type}',
       '${numbered(resource)}', gen_random_uuid(), '${state}', ${at("10:00")})`;
  return [
    `INSERT INTO event_feeds (tenant_id, last_position) VALUES ('${tenantId}', 5)`,
    insert(601, "feed_id", 5),
    insert(602, "gen_random_uuid()", 9),
    deliver(610, 601, 2, "PENDING"),
    deliver(611, 601, 2, "DELIVERED"),
    deliver(612, 601, 3, "DELIVERED", 2),
    deliver(613, 601, 4, "DELIVERED"),
    set("webhook_deliveries", 613, `created_at = ${at("09:59")}`),
    deliver(614, 601, 5, "DELIVERED", 1, "Program"),
    deliver(615, 602, 5, "DELIVERED"),
    deliver(616, 601, 6, "PENDING"),
    deliver(617, 601, 1, "DELIVERED"),
  ];
}
