import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/**
 * Keeps the tenant's holidays as they are until the transaction ends. Whoever makes slots asks for it before the lock of a
 * program; any number can have it at once.
 */
export function shareCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "share");
}

/**
 * Keeps everybody else from making slots and from changing holidays in the tenant until the transaction ends. Nothing is
 * locked before it.
 */
export function ownCalendar(transaction: Transaction): void {
  lockCalendar(transaction, "own");
}

function lockCalendar(transaction: Transaction, mode: "share" | "own"): void {
  const calendar = { tenant_id: transaction.tenantId };
  transaction.send(sql("calendars").insert(calendar).onConflict().ignore());
  const row = sql("calendars").where(calendar).select("tenant_id");
  transaction.send(mode === "share" ? row.forShare() : row.forNoKeyUpdate());
}
