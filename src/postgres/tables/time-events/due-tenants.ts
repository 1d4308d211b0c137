import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";
import { MOVABLE_STATUSES } from "../appointments/appointment-status.js";
import { DEFAULT_REMINDER_OFFSETS } from "../settings/tenant-settings.js";

const SCOPE = { setting: "cupo.time_events", value: "on" } as const;

/** The maximum number of tenants in one batch of {@link advanceIdleTenants}. */
const BATCH = 1_000;
const LEAST_ID = "00000000-0000-0000-0000-000000000000";

const BEGIN = `INSERT INTO time_event_progress (tenant_id, through)
  SELECT f.tenant_id, ?::timestamptz FROM event_feeds f
  WHERE NOT EXISTS (SELECT FROM time_event_progress p WHERE p.tenant_id = f.tenant_id)
  ON CONFLICT DO NOTHING`;

const BEHIND = `SELECT tenant_id AS id FROM time_event_progress WHERE tenant_id > ? AND through < ?
  ORDER BY tenant_id LIMIT ?`;

/**
 * Selects the tenants, among the given ids, that may have due events.
 *
 * Three parts of this SQL are there for speed or for Citus:
 * - The limits for `starts_at` (`after`, `until`) are computed outside the subquery of appointments. Inside it,
 *   row-level security would keep PostgreSQL from using an index on `starts_at`.
 * - `LIMIT 1` makes PostgreSQL search the index of appointments once for each item of `minutes`. Without LIMIT, it
 *   would scan all appointments of the tenant.
 * - `tenant_settings` is joined in the innermost subquery, because Citus does not push down unnest() over a table with
 *   a row-level security policy.
 */
const DUE = `SELECT p.tenant_id AS id FROM time_event_progress p
  WHERE p.tenant_id = ANY(?::uuid[]) AND (
    EXISTS (
      SELECT FROM (
        SELECT greatest(p.through, ?::timestamptz) + o.minutes * interval '1 minute' AS after,
          ?::timestamptz + o.minutes * interval '1 minute' AS until
        FROM (
          SELECT unnest(coalesce(s.reminder_offset_minutes, ?::integer[]) || -coalesce(s.no_show_grace_minutes, ?::integer))
            AS minutes
          FROM time_event_progress b LEFT JOIN tenant_settings s ON s.tenant_id = b.tenant_id
          WHERE b.tenant_id = p.tenant_id) AS o OFFSET 0) AS span
      CROSS JOIN LATERAL (
        SELECT FROM appointments a WHERE a.tenant_id = p.tenant_id AND a.starts_at > span.after AND a.starts_at <= span.until
          AND a.status IN ${MOVABLE_STATUSES} LIMIT 1) AS found)
    OR EXISTS (
      SELECT FROM waitlist_entries w WHERE w.tenant_id = p.tenant_id AND w.closed_at IS NULL AND w.date_to < ?::date
        AND w.date_to >= (greatest(p.through, ?::timestamptz) AT TIME ZONE ?)::date))`;

const ADVANCE = `UPDATE time_event_progress SET through = ?
  WHERE tenant_id = ANY(?::uuid[]) AND tenant_id <> ALL(?::uuid[]) AND through < ?`;

/**
 * Selects events by the instant at which they become due. This instant must be after `notBefore`, after the tenant's
 * progress (`through` in `time_event_progress`), and not after `until`.
 */
export interface DueQuery {
  /** Events that were due at this instant or earlier are not written. */
  readonly notBefore: Date;
  readonly until: Date;
  /** The local date at `until`, YYYY-MM-DD. */
  readonly today: string;
  /** The time zone of local dates. */
  readonly timeZone: string;
  readonly noShowGraceMinutes: number;
}

/**
 * Inserts a row into `time_event_progress` for each tenant that has an event feed but no such row. Events of these
 * tenants are written only if they become due after `from`.
 */
export async function beginTenants(source: TransactionSource, from: Date): Promise<void> {
  await runAcrossTenants(source, SCOPE, (transaction) => transaction.rows(sql.raw(BEGIN, [from])));
}

/** A batch of tenants. The ids are in ascending order. */
export interface DueTenants {
  /** The ids of the tenants of the batch that may have events to write. */
  readonly due: readonly string[];
  /** The id of the last tenant of the batch; undefined if the batch is empty. */
  readonly last: string | undefined;
}

/**
 * Examines the next batch of tenants in `time_event_progress`: those with ids after `after` whose progress (`through`)
 * is before `until`. Returns the tenants that may have due events. Sets the progress of the other tenants of the batch
 * to `until`.
 *
 * Use this function only after every API call that began before `until` has ended. Such a call could still book an
 * appointment that has an event due by `until`, and this event would never be written. Later calls do no harm: an event
 * that is due before its appointment is booked or moved is never written.
 */
export function advanceIdleTenants(
  source: TransactionSource,
  after: string | undefined,
  query: DueQuery,
): Promise<DueTenants> {
  const { until } = query;
  return runAcrossTenants(source, SCOPE, async (transaction) => {
    const ids = await idsOf(transaction, BEHIND, [after ?? LEAST_ID, until, BATCH]);
    if (ids.length === 0) return { due: [], last: undefined };
    const due = await idsOf(transaction, DUE, dueBindings(ids, query));
    transaction.send(sql.raw(ADVANCE, [until, ids, due, until]));
    return { due, last: ids.at(-1) };
  });
}

function dueBindings(
  ids: string[],
  { notBefore, until, today, timeZone, noShowGraceMinutes }: DueQuery,
): (string | number | Date | string[] | number[])[] {
  const appointments = [notBefore, until, [...DEFAULT_REMINDER_OFFSETS], noShowGraceMinutes];
  return [ids, ...appointments, today, notBefore, timeZone];
}

async function idsOf(
  transaction: Omit<Transaction, "tenantId">,
  text: string,
  bindings: readonly (string | number | Date | string[] | number[])[],
): Promise<string[]> {
  const rows = await transaction.rows<{ readonly id: string }>(sql.raw(text, [...bindings]));
  return rows.map(({ id }) => id);
}
