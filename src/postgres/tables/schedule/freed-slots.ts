import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const SCOPE = { setting: "cupo.freed_slots", value: "on" } as const;

/** The tenant and the id of a slot in `freed_slots`, the table of the slots that are offered to the waitlist. */
export interface FreedSlotKey {
  readonly tenantId: string;
  readonly slotId: string;
}

const LISTS = ["tenantId", "practitionerIds", "starts", "ends"] as const;
const TIMES = `unnest(:practitionerIds::uuid[], :starts::timestamptz[], :ends::timestamptz[]) AS f (practitioner_id, starts_at, ends_at)`;

/**
 * Inserts or updates the rows for {@link noteFreedSlots}. The due time `-infinity` means that a job offers the slot at
 * its next run.
 *
 * For each freed time range, the statement reads only slots that start in the range or less than 24 hours before it,
 * because no slot lasts longer than 24 hours. Without OFFSET 0, PostgreSQL might choose a join that reads all free
 * slots.
 */
const note = prepared(LISTS, (names) =>
  sql.raw(
    `INSERT INTO freed_slots (tenant_id, slot_id, practitioner_id, starts_at, due_at)
     SELECT DISTINCT t.tenant_id, s.id, s.practitioner_id, s.starts_at, '-infinity'::timestamptz FROM tenant_settings t
       CROSS JOIN ${TIMES}
       CROSS JOIN LATERAL (SELECT w.program_id FROM program_practitioners w WHERE w.tenant_id = :tenantId
         AND w.practitioner_id = f.practitioner_id AND t.freed_slot_offer_minutes IS NOT NULL OFFSET 0) AS p
       CROSS JOIN LATERAL (SELECT o.id, o.practitioner_id, o.starts_at FROM slots o WHERE o.tenant_id = :tenantId
         AND o.program_id = p.program_id AND o.practitioner_id = f.practitioner_id AND NOT o.retained
         AND o.rule_id IS NOT NULL AND o.starts_at > f.starts_at - interval '24 hours' AND o.starts_at < f.ends_at
         AND o.ends_at > f.starts_at AND o.appointment_id IS NULL OFFSET 0) AS s
     WHERE t.tenant_id = :tenantId AND t.freed_slot_offer_minutes IS NOT NULL ORDER BY s.id
     ON CONFLICT (tenant_id, slot_id) DO UPDATE SET due_at = excluded.due_at`,
    names,
  ),
);

const hasten = prepared(LISTS, (names) =>
  sql.raw(
    `UPDATE freed_slots SET due_at = '-infinity' WHERE tenant_id = :tenantId AND slot_id = ANY (ARRAY(
       SELECT s.slot_id FROM freed_slots s WHERE s.tenant_id = :tenantId AND s.due_at < s.starts_at AND EXISTS (
         SELECT FROM slots o CROSS JOIN ${TIMES} WHERE o.tenant_id = :tenantId AND o.id = s.slot_id
           AND s.practitioner_id = f.practitioner_id AND s.starts_at < f.ends_at AND o.ends_at > f.starts_at)
       ORDER BY s.slot_id FOR NO KEY UPDATE))`,
    names,
  ),
);

const defer = prepared(["tenantId", "slotId", "dueAt", "entryIds"], (names) =>
  sql.raw(
    `UPDATE freed_slots SET due_at = :dueAt, offered_to = offered_to || :entryIds::uuid[]
     WHERE tenant_id = :tenantId AND slot_id = :slotId`,
    names,
  ),
);

const STOPPED = ["tenantId", "slotId", "now"] as const;

const forget = prepared(STOPPED, (names) =>
  sql.raw(
    `DELETE FROM freed_slots WHERE tenant_id = :tenantId AND slot_id = :slotId
       AND (starts_at <= :now OR offered_to = '{}')`,
    names,
  ),
);

const rest = prepared(["tenantId", "slotId"], (names) =>
  sql.raw("UPDATE freed_slots SET due_at = starts_at WHERE tenant_id = :tenantId AND slot_id = :slotId", names),
);

const DUE = `SELECT tenant_id AS "tenantId", slot_id AS "slotId" FROM freed_slots
  WHERE due_at <= ? AND tenant_id <> ALL(?::uuid[]) ORDER BY due_at LIMIT ?`;

interface PractitionerTime {
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/**
 * Finds the free slots that overlap one of `times` of the same practitioner, in all programs in which the practitioner
 * works. Inserts or updates a row of `freed_slots` for each of these slots, so that a job offers the slot at its next
 * run. Pass the times that appointments no longer occupy. Does nothing if the tenant does not offer freed slots.
 *
 * Call this at most once in a transaction and after all other locks, because freed slots are last in the lock order.
 */
export function noteFreedSlots(transaction: Transaction, times: readonly PractitionerTime[]): void {
  if (times.length > 0) transaction.send(note(listsOf(transaction, times)));
}

/**
 * Makes freed slots due, so that a job offers them at its next run. These are the freed slots that overlap one of
 * `times` of the same practitioner. Call this when holds at these times have ended.
 *
 * Skips slots with a due time at or after their start. A slot has such a due time if it could not be offered, if no
 * waitlist entry was found for it, or if its offers were stopped.
 */
export function hastenFreedSlots(transaction: Transaction, times: readonly PractitionerTime[]): void {
  if (times.length > 0) transaction.send(hasten(listsOf(transaction, times)));
}

function listsOf({ tenantId }: Transaction, times: readonly PractitionerTime[]) {
  return {
    tenantId,
    practitionerIds: times.map(({ practitionerId }) => practitionerId),
    starts: times.map(({ startsAt }) => startsAt),
    ends: times.map(({ endsAt }) => endsAt),
  };
}

/**
 * Sets `dueAt` as the time at which a job looks again for a waitlist entry for a freed slot. Adds `entryIds` to the
 * list of waitlist entries to which the slot has been offered.
 */
export function deferFreedSlot(
  transaction: Transaction,
  slotId: string,
  dueAt: Date,
  entryIds: readonly string[],
): void {
  transaction.send(defer({ tenantId: transaction.tenantId, slotId, dueAt, entryIds }));
}

/**
 * Stops the offers of a freed slot until an appointment frees the slot again. Deletes the row of the slot if the slot
 * was never offered or has started. Otherwise the row stays until the slot starts, so that no waitlist entry is offered
 * the slot twice.
 */
export function stopOffers(transaction: Transaction, slotId: string, now: Date): void {
  const { tenantId } = transaction;
  transaction.send(forget({ tenantId, slotId, now }));
  transaction.send(rest({ tenantId, slotId }));
}

/**
 * Returns at most `limit` freed slots that are due for an offer at the instant `at`. The slot that has been due for the
 * longest time comes first. Covers all tenants except `withoutTenants`.
 */
export function findDueFreedSlots(
  source: TransactionSource,
  at: Date,
  limit: number,
  withoutTenants: readonly string[],
): Promise<FreedSlotKey[]> {
  const due = sql.raw(DUE, [at, [...withoutTenants], limit]);
  return runAcrossTenants(source, SCOPE, (transaction) => transaction.rows<FreedSlotKey>(due));
}
