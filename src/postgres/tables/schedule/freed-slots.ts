import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const SCOPE = { setting: "cupo.freed_slots", value: "on" } as const;

/** A freed slot of a tenant. */
export interface FreedSlotKey {
  readonly tenantId: string;
  readonly slotId: string;
}

/** `-infinity` is due at once. The settings come first, so that a tenant that offers no slots reads nothing else. */
const note = prepared(["tenantId", "ids"], (names) =>
  sql.raw(
    `INSERT INTO freed_slots (tenant_id, slot_id, practitioner_id, starts_at, due_at)
     SELECT t.tenant_id, s.id, s.practitioner_id, s.starts_at, '-infinity'::timestamptz FROM tenant_settings t
       JOIN slots s ON s.tenant_id = :tenantId AND s.id = ANY(:ids::uuid[])
     WHERE t.tenant_id = :tenantId AND t.freed_slot_offer_minutes IS NOT NULL ORDER BY s.id
     ON CONFLICT (tenant_id, slot_id) DO UPDATE SET due_at = excluded.due_at`,
    names,
  ),
);

const hasten = prepared(["tenantId", "practitionerId", "startsAt", "endsAt"], (names) =>
  sql.raw(
    `UPDATE freed_slots SET due_at = '-infinity' WHERE tenant_id = :tenantId AND practitioner_id = :practitionerId
       AND starts_at >= :startsAt AND starts_at < :endsAt AND due_at < starts_at`,
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

const forget = prepared(["tenant_id", "slot_id"], (key) => sql("freed_slots").where(key).delete());

const DUE = `SELECT tenant_id AS "tenantId", slot_id AS "slotId" FROM freed_slots
  WHERE due_at <= ? AND tenant_id <> ALL(?::uuid[]) ORDER BY due_at LIMIT ?`;

/** Notes that an appointment freed these locked slots, if the tenant offers freed slots. */
export function noteFreedSlots(transaction: Transaction, ids: readonly string[]): void {
  transaction.send(note({ tenantId: transaction.tenantId, ids }));
}

/** Makes the freed slots in the time of a hold due at once, because the hold ended. Leaves those that no entry wants. */
export function hastenFreedSlots(
  transaction: Transaction,
  {
    practitionerId,
    startsAt,
    endsAt,
  }: { readonly practitionerId: string; readonly startsAt: Date; readonly endsAt: Date },
): void {
  transaction.send(hasten({ tenantId: transaction.tenantId, practitionerId, startsAt, endsAt }));
}

/** Sets when a freed slot is due again, and adds the waitlist entry to which it was offered. */
export function deferFreedSlot(
  transaction: Transaction,
  slotId: string,
  dueAt: Date,
  entryIds: readonly string[],
): void {
  transaction.send(defer({ tenantId: transaction.tenantId, slotId, dueAt, entryIds }));
}

/** Deletes the row of a freed slot, which will not be offered any more. */
export function forgetFreedSlot(transaction: Transaction, slotId: string): void {
  transaction.send(forget({ tenant_id: transaction.tenantId, slot_id: slotId }));
}

/**
 * Returns the freed slots that are due at `at`, the longest due first, at most `limit`: those of all tenants but the
 * ones to leave out.
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
