import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/**
 * Locks the tenant's calendar FOR SHARE until the transaction ends, so that holidays cannot change meanwhile.
 * Transactions that create slots take this lock. Any number of transactions can hold this lock at the same time. In the
 * order of `tables/locks.ts`, the calendar comes before programs.
 */
export function shareCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "share");
}

/**
 * Locks the tenant's calendar exclusively until the transaction ends. Meanwhile no other transaction can create slots
 * or change holidays of the tenant. In the order of `tables/locks.ts`, only the idempotency key comes before the
 * calendar.
 */
export function ownCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "own");
}

/**
 * Like {@link shareCalendar}, but returns false instead of waiting if another transaction holds the calendar
 * exclusively.
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
