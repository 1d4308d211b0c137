import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES } from "../appointments/appointment-status.js";
import { busyTime } from "../appointments/busy-times.js";

/** Two practitioners of a program who exchange their appointments in a time span. */
export interface SwappedSpan {
  readonly programId: string;
  readonly practitionerId: string;
  readonly otherPractitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/**
 * SQL for the ids that {@link findInSpan} returns. The limit of 24 hours narrows the index scan; no appointment lasts
 * longer.
 */
const IN_SPAN = `SELECT t.id FROM appointments t WHERE t.tenant_id = :tenantId AND t.program_id = :programId
  AND t.practitioner_id = ANY(ARRAY[:practitionerId::uuid, :otherPractitionerId::uuid])
  AND t.starts_at > :startsAt::timestamptz - interval '24 hours' AND t.starts_at < :endsAt AND t.ends_at > :startsAt
  AND t.status IN ${LIVE_STATUSES} ORDER BY t.id`;

const OTHER =
  "CASE WHEN t.practitioner_id = :practitionerId THEN :otherPractitionerId::uuid ELSE :practitionerId::uuid END";
const TIME = { tenantId: ":tenantId", startsAt: "t.starts_at", endsAt: "t.ends_at" };
const BUSY = busyTime("practitioner_id", {
  ...TIME,
  personId: OTHER,
  exceptId: "NULL::uuid AND a.id <> ALL(:ids::uuid[])",
  now: ":now::timestamptz",
});
const OBSTRUCTED = `SELECT t.id FROM appointments t WHERE t.tenant_id = :tenantId AND t.id = ANY(:ids::uuid[])
  AND (${BUSY}) IS NOT NULL ORDER BY t.id`;

/**
 * Returns the ids of the appointments of both practitioners in the program that overlap the time span, in ascending
 * order. Omits appointments with status CANCELLED or NO_SHOW. Does not lock the appointments.
 */
export async function findInSpan(transaction: Transaction, span: SwappedSpan): Promise<readonly string[]> {
  const rows = await transaction.rows<{ id: string }>(sql.raw(IN_SPAN, { tenantId: transaction.tenantId, ...span }));
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of the appointments in `ids` that cannot be exchanged, in ascending order. In an exchange, each
 * appointment moves to the other practitioner. This is impossible if the other practitioner has a live hold or an
 * appointment outside `ids` at an overlapping time. Appointments with status CANCELLED or NO_SHOW do not count.
 */
export async function findObstructed(
  transaction: Transaction,
  { practitionerId, otherPractitionerId }: SwappedSpan,
  ids: readonly string[],
  nowMs: number,
): Promise<readonly string[]> {
  const bindings = { tenantId: transaction.tenantId, practitionerId, otherPractitionerId, ids: ids as string[] };
  const rows = await transaction.rows<{ id: string }>(sql.raw(OBSTRUCTED, { ...bindings, now: new Date(nowMs) }));
  return rows.map(({ id }) => id);
}

/**
 * Sets locked appointments to CANCELLED, so that the exclusion constraints ignore them. The same transaction must
 * afterwards store their final status. Without this step, appointments that exchange their times or practitioners would
 * conflict, because PostgreSQL checks the constraints after each row.
 */
export function setAside(transaction: Transaction, ids: readonly string[]): void {
  const query = sql("appointments").where({ tenant_id: transaction.tenantId }).update({ status: "CANCELLED" });
  transaction.send(query.whereRaw("id = ANY(?::uuid[])", [ids as string[]]));
}
