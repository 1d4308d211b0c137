import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/**
 * Keeps the tenant's holidays as they are until the transaction ends, for whoever makes slots; any number can have it at
 * once. It comes before the programs in the one order of `tables/locks.ts`.
 */
export function shareCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "share");
}

/**
 * Keeps everybody else from making slots and from changing holidays in the tenant until the transaction ends. Only the
 * idempotency key comes before it in the one order of `tables/locks.ts`.
 */
export function ownCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "own");
}

/** Shares the calendar as {@link shareCalendar} does where nobody owns it; says whether it could, and waits for nobody. */
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
