import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { MOVABLE_STATUSES } from "../appointments/appointment-status.js";

const awaitedStatement = prepared(["tenant", "id", "version"], ({ tenant, id, version }) =>
  sql.raw(
    `SELECT 1 FROM appointments a WHERE a.tenant_id = ? AND a.id = ? AND a.status IN ${MOVABLE_STATUSES}
       AND NOT EXISTS (SELECT FROM appointment_history h WHERE h.tenant_id = ? AND h.appointment_id = ?
         AND h.version > ?::integer AND h.from_starts_at <> h.to_starts_at)`,
    [tenant, id, tenant, id, version],
  ),
);

const overdueStatement = prepared(["tenant", "id", "today"], ({ tenant, id, today }) =>
  sql.raw("SELECT 1 FROM waitlist_entries WHERE tenant_id = ? AND id = ? AND closed_at IS NULL AND date_to < ?::date", [
    tenant,
    id,
    today,
  ]),
);

/** Returns whether an appointment is pending or confirmed and its start has not changed since its version `version`. */
export async function isStillAwaited(transaction: Transaction, id: string, version: number): Promise<boolean> {
  return (await transaction.rows(awaitedStatement({ tenant: transaction.tenantId, id, version }))).length > 0;
}

/**
 * Returns whether a waitlist entry is open and its last wanted date (`dateTo`) is before `today`, a local date,
 * YYYY-MM-DD.
 */
export async function isStillExpired(transaction: Transaction, id: string, today: string): Promise<boolean> {
  return (await transaction.rows(overdueStatement({ tenant: transaction.tenantId, id, today }))).length > 0;
}
