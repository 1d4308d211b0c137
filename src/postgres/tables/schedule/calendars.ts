import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/**
 * Locks the tenant's row in `calendars` FOR SHARE until the transaction ends. Meanwhile holidays and blocks cannot
 * change, and no practitioner or location becomes active or inactive. Transactions that create slots from rules take
 * this lock or the lock of {@link ownCalendar}. Any number of transactions can hold this lock at the same time. In the
 * order of `tables/locks.ts`, this row comes before programs.
 */
export function shareCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "share");
}

/**
 * Locks the tenant's row in `calendars` exclusively until the transaction ends. Meanwhile no other transaction can
 * create slots from rules, change holidays or blocks of the tenant, or activate or deactivate a practitioner or
 * location. Slots of overbooked appointments can still be created. In the order of `tables/locks.ts`, only the
 * idempotency key comes before this row.
 */
export function ownCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "own");
}

/**
 * Like {@link shareCalendar}, but does not wait if another transaction has locked the row exclusively: returns false
 * without a lock. Returns true if it has locked the row. Waits only while another transaction is creating the row.
 */
export async function tryShareCalendar(transaction: Transaction): Promise<boolean> {
  const calendar = { tenant_id: transaction.tenantId };
  transaction.send(sql("calendars").insert(calendar).onConflict().ignore());
  const row = sql("calendars").where(calendar).select("tenant_id").forShare().skipLocked();
  return (await transaction.rows(row)).length === 1;
}

function lockCalendar(transaction: Transaction, mode: "share" | "own"): void {
  const calendar = { tenant_id: transaction.tenantId };
  transaction.send(sql("calendars").insert(calendar).onConflict().ignore());
  const row = sql("calendars").where(calendar).select("tenant_id");
  transaction.send(mode === "share" ? row.forShare() : row.forNoKeyUpdate());
}
