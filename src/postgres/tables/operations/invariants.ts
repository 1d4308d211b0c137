import type { Transaction } from "../../../call.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES, UNFINISHED_STATUSES } from "../appointments/appointment-status.js";
import { visitEnd } from "../appointments/busy-times.js";
import { WRONG_SUMMARIES } from "../opportunity/summaries.js";

/** The result of {@link verifyInvariants} for a tenant, at one instant. */
export interface InvariantFindings {
  readonly liveAppointments: number;
  readonly occupiedSlots: number;
  readonly countedBookings: number;
  /**
   * The number of overbooked appointments, except CANCELLED and NO_SHOW. They may overlap other appointments of the
   * practitioner, and use no capacity.
   */
  readonly overbooked: number;
  /** The invariants that are broken. */
  readonly findings: readonly InvariantFinding[];
}

/**
 * A broken invariant: the number of violations, and at most ten ids of violating rows. These are the lowest ids, in
 * ascending order and without duplicates.
 */
export interface InvariantFinding {
  readonly name: string;
  readonly count: number;
  readonly exampleIds: readonly string[];
}

/**
 * Checks all invariants of the tenant's data. For example, compares appointments with slots, counters, history and
 * audit trail. Returns the counts and the broken invariants. All compared rows come from one snapshot. A change of an
 * appointment is compared with audit rows only if it was made within the retention period of audit rows.
 */
export async function verifyInvariants(transaction: Transaction, nowMs: number): Promise<InvariantFindings> {
  const [kept] = await transaction.rows<{ since: Date | null }>(sql.raw(AUDIT_KEPT_SINCE));
  const held_after = new Date(nowMs + HOLD_MARGIN_MS);
  const known = { tenant: transaction.tenantId, audited_since: kept?.since ?? "-infinity", held_after };
  return readOnlyRow(transaction, sql.raw(VERIFY, known));
}

/**
 * The invariants HELD_COUNT_WRONG, HOLD_OVERLAP and OFFER_WRONG cover only holds that expire more than 30 s from now.
 * Other holds may expire, and their time may be booked, before the statement reads them.
 */
const HOLD_MARGIN_MS = 30_000;

/**
 * SQL for the instant from which audit rows must exist: one day after the beginning of the oldest month that is kept.
 * The extra day allows for clock differences between processes, because their clocks decide the month of an audit row.
 */
const AUDIT_KEPT_SINCE = `SELECT interval '1 day' + greatest(dropped_before,
    date_trunc('month', now(), 'UTC') - make_interval(months => kept_months)) AS since
  FROM schema_partitions WHERE table_name = 'audit_events'`;

/**
 * SQL for whether a slot `s` overlaps a block `b` and starts after the last change of the block. Slots that had begun
 * before this change do not count, because a block changes only future slots.
 */
const BLOCKED = "s.starts_at < b.ends_at AND s.ends_at > b.starts_at AND s.starts_at > b.updated_at";

/**
 * SQL for each invariant, by name. Each query selects the ids of the rows that violate the invariant. Exceptions:
 * - DAY_COUNT_WRONG and HELD_COUNT_WRONG select the id of the rule of each wrong counter.
 * - SUMMARY_WRONG selects ids of healthcare services.
 *
 * The queries also check what row-level security enforces, because a superuser can bypass it. They follow these rules:
 * - An overbooked appointment may overlap other appointments and holds of its practitioner, and no counter of a day
 *   includes it. All other invariants apply to it.
 * - A hold may overlap the appointment that it reschedules.
 * - WEBHOOK_ORDER_WRONG compares a pending delivery only with DELIVERED ones that were created at the same time or
 *   later, because a replay creates new deliveries of old events.
 */
const RULES: Readonly<Record<string, string>> = {
  APPOINTMENT_INVALID: `SELECT a.id FROM appointments a WHERE a.tenant_id = :tenant AND NOT (a.version >= 1
    AND a.status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED', 'CANCELLED', 'NO_SHOW') AND a.starts_at < a.ends_at
    AND a.overbooked = (a.rule_id IS NULL) AND (a.overbooking_reason IS NOT NULL OR NOT a.overbooked))`,
  APPOINTMENT_WITHOUT_SLOT:
    "SELECT a.id FROM live a WHERE NOT EXISTS (SELECT FROM occupied s WHERE s.appointment_id = a.id)",
  AUDIT_MISSING: `SELECT DISTINCT h.appointment_id FROM history h WHERE h.changed_at >= :audited_since AND NOT EXISTS (
    SELECT FROM audit_events e WHERE e.tenant_id = :tenant AND e.resource_type = 'Appointment'
      AND e.resource_id = h.appointment_id AND e.resource_version = h.version)`,
  BLOCK_IGNORED: `SELECT s.id FROM blocks b JOIN slots s ON s.tenant_id = :tenant AND s.practitioner_id = b.practitioner_id
      AND NOT s.retained AND ${BLOCKED} WHERE b.practitioner_id IS NOT NULL
    UNION SELECT s.id FROM blocks b JOIN programs p ON p.tenant_id = :tenant AND (p.id = b.program_id OR p.location_id = b.location_id)
      JOIN slots s ON s.tenant_id = :tenant AND s.program_id = p.id AND NOT s.retained AND ${BLOCKED}
      AND s.starts_at > p.updated_at WHERE b.practitioner_id IS NULL`,
  BLOCK_OVER: `SELECT s.id FROM slots s JOIN schedule_blocks b ON b.tenant_id = :tenant AND b.id = s.retained_by_id
    WHERE s.tenant_id = :tenant AND s.retained AND s.starts_at > b.updated_at AND b.cancelled_at IS NOT NULL`,
  DAY_COUNT_WRONG: `SELECT rule_id FROM (
      SELECT rule_id, local_date, 1 AS live, 0 AS holders, 0 AS counted FROM live WHERE NOT overbooked
      UNION ALL (SELECT DISTINCT ON (appointment_id) rule_id, local_date, 0, 1, 0 FROM occupied WHERE rule_id IS NOT NULL)
      UNION ALL SELECT rule_id, local_date, 0, 0, booked FROM counters) AS booking
    GROUP BY rule_id, local_date HAVING sum(live) <> sum(counted) OR sum(holders) <> sum(counted)`,
  ERASED_PATIENT_KNOWN: `SELECT p.id FROM patients p WHERE p.tenant_id = :tenant AND p.erased_at IS NOT NULL AND (
    p.status <> 'INACTIVE' OR p.email IS NOT NULL OR cardinality(p.search_words) > 0
    OR p.document_type || p.document_number || p.document_type_key || p.document_number_key || p.full_name || p.phone <> ''
    OR EXISTS (SELECT FROM appointments a WHERE a.tenant_id = :tenant AND a.patient_id = p.id
      AND (a.status IN ${UNFINISHED_STATUSES} OR a.comment IS NOT NULL OR a.overbooking_reason <> ''
        OR a.join_link IS NOT NULL))
    OR EXISTS (SELECT FROM waitlist_entries w WHERE w.tenant_id = :tenant AND w.patient_id = p.id
      AND (w.closed_at IS NULL OR w.close_reason <> ''))
    OR EXISTS (SELECT FROM user_attention_cases c WHERE c.tenant_id = :tenant AND c.patient_id = p.id
      AND (c.closed_at IS NULL OR c.description <> ''))
    OR EXISTS (SELECT FROM appointment_holds h WHERE h.tenant_id = :tenant AND h.patient_id = p.id)
    OR EXISTS (SELECT FROM notes n WHERE n.tenant_id = :tenant AND n.patient_id = p.id AND NOT n.removed))`,
  HELD_COUNT_WRONG: `SELECT rule_id FROM (
      SELECT rule_id, local_date, 1 AS live, 0 AS counted FROM held WHERE uses_unit
      UNION ALL SELECT c.rule_id, c.local_date, 0, 1 FROM counters c CROSS JOIN LATERAL unnest(c.held) AS e (until)
        WHERE e.until > :held_after) AS unit
    GROUP BY rule_id, local_date HAVING sum(live) <> sum(counted)`,
  HISTORY_WRONG: `SELECT a.id FROM appointments a
    LEFT JOIN (SELECT appointment_id, count(*) AS changes, max(version) AS latest FROM history GROUP BY 1) AS whole
      ON whole.appointment_id = a.id
    LEFT JOIN history h ON h.appointment_id = a.id AND h.version = a.version
    WHERE a.tenant_id = :tenant AND (whole.changes, whole.latest, h.to_status, h.to_starts_at, h.to_ends_at, h.to_program_id,
      h.to_practitioner_id) IS DISTINCT FROM (a.version, a.version, a.status, a.starts_at, a.ends_at, a.program_id,
      a.practitioner_id)`,
  HOLD_OUTLIVED: `SELECT h.id FROM appointment_holds h WHERE h.tenant_id = :tenant
      AND (h.ended_at > h.expires_at OR h.expires_at > h.starts_at)`,
  HOLD_OVERLAP: `SELECT h.id FROM held h WHERE EXISTS (SELECT FROM held o WHERE o.id < h.id
        AND (o.practitioner_id = h.practitioner_id AND o.starts_at < h.ends_at AND o.ends_at > h.starts_at
          OR o.patient_id = h.patient_id AND o.starts_at < ${visitEnd("h")} AND ${visitEnd("o")} > h.starts_at))
      OR EXISTS (SELECT FROM live a WHERE a.practitioner_id = h.practitioner_id AND NOT a.overbooked
        AND a.id IS DISTINCT FROM h.appointment_id AND a.starts_at < h.ends_at AND a.ends_at > h.starts_at)`,
  MERGED_PATIENT_IN_USE: `SELECT p.id FROM patients p WHERE p.tenant_id = :tenant AND p.merged_into IS NOT NULL AND (
    p.status <> 'INACTIVE' OR p.merged_into = p.id
    OR EXISTS (SELECT FROM appointment_holds h WHERE h.tenant_id = :tenant AND h.patient_id = p.id)
    OR EXISTS (SELECT FROM appointments a WHERE a.tenant_id = :tenant AND a.patient_id = p.id)
    OR EXISTS (SELECT FROM waitlist_entries w WHERE w.tenant_id = :tenant AND w.patient_id = p.id)
    OR EXISTS (SELECT FROM user_attention_cases c WHERE c.tenant_id = :tenant AND c.patient_id = p.id))`,
  OFFER_WRONG: `SELECT h.id FROM held h LEFT JOIN waitlist_entries w ON w.tenant_id = :tenant AND w.id = h.waitlist_entry_id
    WHERE h.waitlist_entry_id IS NOT NULL AND (w.patient_id, w.service_id) IS DISTINCT FROM (h.patient_id, h.service_id)`,
  PATIENT_OVERLAP: overlap(
    "patient_id",
    `(SELECT id, patient_id, starts_at, ${visitEnd("live")} AS ends_at FROM live) AS visits`,
  ),
  PRACTITIONER_OVERLAP: overlap("practitioner_id", "live WHERE NOT overbooked"),
  SERIES_OF_SEVERAL: `SELECT s.id FROM (SELECT id, patient_id, min(patient_id::text) OVER (PARTITION BY series_id) AS first
      FROM appointments WHERE tenant_id = :tenant AND series_id IS NOT NULL) AS s WHERE s.patient_id::text <> s.first`,
  SLOT_INVALID: `SELECT s.id FROM slots s WHERE s.tenant_id = :tenant AND NOT (s.generation >= 1 AND s.starts_at < s.ends_at
    AND (s.appointment_id IS NOT NULL OR (s.rule_id IS NOT NULL AND NOT s.retained)) AND s.retained = (s.retained_by IS NOT NULL)
    AND (s.retained OR NOT s.retention_accepted) AND (s.retained_by_id IS NOT NULL) = (s.retained_by IS NOT DISTINCT FROM 'BLOCK'))`,
  SLOT_WRONG: `SELECT s.id FROM (SELECT *, min(starts_at) OVER whole AS first, max(ends_at) OVER whole AS last,
        sum(ends_at - starts_at) OVER whole AS length FROM occupied WINDOW whole AS (PARTITION BY appointment_id)) AS s
    LEFT JOIN live a ON a.id = s.appointment_id
    WHERE (s.program_id, s.rule_id, s.practitioner_id, s.local_date, s.first, s.last, s.length) IS DISTINCT FROM
      (a.program_id, a.rule_id, a.practitioner_id, a.local_date, a.starts_at, a.ends_at, a.ends_at - a.starts_at)`,
  SUMMARY_WRONG: WRONG_SUMMARIES,
  WEBHOOK_CURSOR_WRONG: `SELECT w.id FROM webhooks w JOIN event_feeds f ON f.tenant_id = :tenant AND f.feed_id = w.feed_id
    WHERE w.tenant_id = :tenant AND w.position > f.last_position`,
  WEBHOOK_ORDER_WRONG: `SELECT p.webhook_id FROM webhook_deliveries p WHERE p.tenant_id = :tenant AND p.state = 'PENDING' AND EXISTS (
    SELECT FROM webhook_deliveries d WHERE d.tenant_id = :tenant AND d.webhook_id = p.webhook_id AND d.state = 'DELIVERED'
      AND d.resource_type = p.resource_type AND d.resource_id = p.resource_id AND d.position > p.position
      AND d.created_at >= p.created_at)`,
};

/**
 * The statement of {@link verifyInvariants}. Citus loses the names of untyped literals and the column list of a CTE. So
 * the name of each invariant is cast to text, and the alias of each subquery names the column `id`.
 */
const VERIFY = `WITH
  live AS MATERIALIZED (SELECT * FROM appointments
    WHERE tenant_id = :tenant AND status IN ${LIVE_STATUSES}),
  occupied AS MATERIALIZED (SELECT * FROM slots WHERE tenant_id = :tenant AND appointment_id IS NOT NULL),
  counters AS MATERIALIZED (SELECT * FROM day_counters WHERE tenant_id = :tenant),
  held AS MATERIALIZED (SELECT * FROM appointment_holds
    WHERE tenant_id = :tenant AND ended_at IS NULL AND expires_at > :held_after),
  blocks AS MATERIALIZED (SELECT * FROM schedule_blocks WHERE tenant_id = :tenant AND cancelled_at IS NULL),
  history AS MATERIALIZED (SELECT * FROM appointment_history WHERE tenant_id = :tenant),
  broken AS (${Object.entries(RULES)
    .map(([name, ids]) => `SELECT '${name}'::text AS name, id FROM (${ids}) AS breach (id)`)
    .join(" UNION ALL ")}),
  findings AS (SELECT name, count(*) AS count, (array_agg(DISTINCT id))[1:10] AS ids FROM broken GROUP BY name)
  SELECT (SELECT count(*) FROM live)::int AS "liveAppointments",
    (SELECT count(*) FROM occupied)::int AS "occupiedSlots",
    (SELECT coalesce(sum(booked), 0) FROM counters)::int AS "countedBookings",
    (SELECT count(*) FROM live WHERE overbooked)::int AS overbooked,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'count', count, 'exampleIds', ids) ORDER BY name), '[]')
     FROM findings) AS findings`;

/**
 * Returns SQL for the ids of appointments that begin before an earlier appointment of the same person has ended.
 * `person` is the column that identifies the person. `appointments` is SQL that follows FROM.
 */
function overlap(person: "patient_id" | "practitioner_id", appointments: string): string {
  return `SELECT id FROM (SELECT id, starts_at, max(ends_at) OVER (PARTITION BY ${person} ORDER BY starts_at, id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until FROM ${appointments}) AS timed
    WHERE starts_at < busy_until`;
}
