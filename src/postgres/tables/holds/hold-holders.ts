import type { Transaction } from "../../../call.js";
import { liveHolds, withHold, withoutHold } from "../../held-until.js";
import { prepared, preparedRequired } from "../../prepared.js";
import { sql } from "../../sql.js";

const addHolder = prepared(["tenant_id", "principal"], (row) =>
  sql("hold_holders")
    .insert({ ...row, held: sql.raw("'{}'") })
    .onConflict()
    .ignore(),
);

const OF_PRINCIPAL = "h.tenant_id = :tenant_id AND h.principal = :principal";

const addHold = preparedRequired(["tenant_id", "principal", "now", "until", "limit"], (names) =>
  sql.raw(
    `UPDATE hold_holders h SET held = ${withHold("h.held")}
     WHERE ${OF_PRINCIPAL} AND ${liveHolds("h.held", ":now::timestamptz")} < :limit::integer RETURNING 1`,
    names,
  ),
);

const dropHold = prepared(["tenant_id", "principal", "until"], (names) =>
  sql.raw(`UPDATE hold_holders h SET held = ${withoutHold("h.held")} WHERE ${OF_PRINCIPAL}`, names),
);

/** The principal of a hold, and when the hold expires. */
export interface HolderUntil {
  readonly principal: string;
  readonly expiresAt: Date;
}

/**
 * Adds a hold to the count of its principal. If the principal already has `limit` live holds, the call fails with
 * the error that `refusal` returns. The counter comes late in the order of `locks.ts`, so that calls of one principal
 * wait for each other only for a short time.
 */
export function requireHolder(
  transaction: Transaction,
  { principal, expiresAt: until }: HolderUntil,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
  refusal: () => unknown,
): void {
  const key = { tenant_id: transaction.tenantId, principal };
  transaction.send(addHolder(key));
  transaction.require(addHold({ ...key, now: new Date(nowMs), until, limit }), refusal);
}

/** Removes a hold from the count of its principal. */
export function dropHolder(transaction: Transaction, { principal, expiresAt: until }: HolderUntil): void {
  transaction.send(dropHold({ tenant_id: transaction.tenantId, principal, until }));
}
