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

/**
 * Whoever changes schedules waits for others who do longer than calls that hold no schedule up: there are few of them at once,
 * in places of their own, and each may take a second or two.
 */
const PATIENCE = "SET LOCAL lock_timeout = '5s'";

function lockCalendar(transaction: Transaction, mode: "share" | "own"): void {
  transaction.send(sql.raw(PATIENCE));
  const calendar = { tenant_id: transaction.tenantId };
  transaction.send(sql("calendars").insert(calendar).onConflict().ignore());
  const row = sql("calendars").where(calendar).select("tenant_id");
  transaction.send(mode === "share" ? row.forShare() : row.forNoKeyUpdate());
}
