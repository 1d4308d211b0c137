import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { MOVABLE_STATUSES } from "../appointments/appointment-status.js";

/** A pending or confirmed appointment for which a reminder or a no-show event becomes due. */
export interface DueAppointment {
  readonly id: string;
  readonly version: number;
  readonly startsAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An open waitlist entry whose last wanted date (`dateTo`) has passed. */
export interface ExpiredEntry {
  readonly id: string;
  readonly version: number;
  readonly dateTo: string;
  readonly createdAt: Date;
}

/** The period after `after`, up to and including `until`. */
export interface Window {
  readonly after: Date;
  readonly until: Date;
}

/**
 * Locks the due appointments in the order of their ids. All statements that lock several appointments use this order.
 * With OFFSET 0, PostgreSQL plans the subquery separately and uses an index. Without it, PostgreSQL would scan all
 * appointments of the tenant.
 */
const lockDue = prepared(["tenant", "after", "until", "minutes"], ({ tenant, after, until, minutes }) =>
  sql.raw(
    `SELECT id, version, starts_at AS "startsAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM appointments
     WHERE tenant_id = ? AND status IN ${MOVABLE_STATUSES} AND id = ANY(ARRAY(
       SELECT found.id FROM unnest(?::integer[]) AS o (minutes) CROSS JOIN LATERAL (
         SELECT a.id FROM appointments a WHERE a.tenant_id = ? AND a.status IN ${MOVABLE_STATUSES}
           AND a.starts_at > ?::timestamptz + o.minutes * interval '1 minute'
           AND a.starts_at <= ?::timestamptz + o.minutes * interval '1 minute' OFFSET 0) AS found))
     ORDER BY id FOR NO KEY UPDATE`,
    [tenant, minutes, tenant, after, until],
  ),
);

const lockExpired = prepared(["tenant", "from", "today"], ({ tenant, from, today }) =>
  sql.raw(
    `SELECT id, version, date_to AS "dateTo", created_at AS "createdAt" FROM waitlist_entries
     WHERE tenant_id = ? AND closed_at IS NULL AND date_to >= ?::date AND date_to < ?::date ORDER BY id FOR NO KEY UPDATE`,
    [tenant, from, today],
  ),
);

const placedStatement = prepared(["tenant", "ids"], ({ tenant, ids }) =>
  sql.raw(
    `SELECT appointment_id AS id, max(changed_at) AS "placedAt" FROM appointment_history
     WHERE tenant_id = ? AND appointment_id = ANY(?::uuid[])
       AND (from_starts_at IS NULL OR from_starts_at <> to_starts_at) GROUP BY appointment_id`,
    [tenant, ids],
  ),
);

/**
 * Locks and returns the pending and confirmed appointments for which an event becomes due in the window, ordered by id.
 * `minutes` says how many minutes before the start an event becomes due. Negative numbers are minutes after the start.
 *
 * If another call reschedules an appointment while this function waits for the lock, the returned start is the new
 * start. The event for the new start may be due outside the window.
 */
export function lockDueAppointments(
  transaction: Transaction,
  { after, until }: Window,
  minutes: readonly number[],
): Promise<DueAppointment[]> {
  return readRecords(transaction, lockDue({ tenant: transaction.tenantId, after, until, minutes }));
}

/** Locks and returns the open waitlist entries whose `dateTo` is `from` or later and before `today`, ordered by id. */
export function lockExpiredEntries(transaction: Transaction, from: string, today: string): Promise<ExpiredEntry[]> {
  return readRecords(transaction, lockExpired({ tenant: transaction.tenantId, from, today }));
}

/**
 * Returns for each of these appointments when its start was last set: by the booking or import, or by the last change
 * of the start. Omits an appointment if its history has neither.
 */
export async function findPlacedTimes(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.rows<{ readonly id: string; readonly placedAt: Date }>(
    placedStatement({ tenant: transaction.tenantId, ids }),
  );
  return new Map(rows.map(({ id, placedAt }) => [id, placedAt]));
}
