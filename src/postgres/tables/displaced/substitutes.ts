import type { Principal, Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { MOVABLE_STATUSES } from "../appointments/appointment-status.js";
import { busyTime } from "../appointments/busy-times.js";
import { offeringPrograms } from "../appointments/offers.js";
import { IS_UP_TO_DATE } from "../schedule/booking-windows.js";

/**
 * A practitioner who can take over each of the appointments `appointmentIds`. The ids are ordered by the start of the
 * appointment.
 */
export interface Substitute {
  readonly practitionerId: string;
  readonly appointmentIds: readonly string[];
}

const BUSY = busyTime("practitioner_id", {
  tenantId: ":tenantId",
  personId: "m.practitioner_id",
  startsAt: "t.starts_at",
  endsAt: "t.ends_at",
  exceptId: "NULL::uuid",
  now: ":now::timestamptz",
});

/**
 * SQL for the total length of a practitioner's free slots in the program of the appointment `t`, within the time of
 * `t`. Only slots of one rule are added up, and the longest total counts. Slots of a practitioner in one program never
 * overlap. So slots that are together as long as `t` cover all of `t`.
 */
const FREE_TIME = `(SELECT max(of_rule.length) FROM (SELECT sum(s.ends_at - s.starts_at) AS length FROM slots s
  WHERE s.tenant_id = :tenantId AND s.program_id = t.program_id AND s.practitioner_id = m.practitioner_id
    AND s.starts_at >= t.starts_at AND s.ends_at <= t.ends_at AND NOT s.retained AND s.rule_id IS NOT NULL
    AND s.appointment_id IS NULL AND ${IS_UP_TO_DATE} GROUP BY s.rule_id) AS of_rule)`;

const SUBSTITUTES = `SELECT m.practitioner_id AS "practitionerId",
    array_agg(t.id ORDER BY t.starts_at, t.id) AS "appointmentIds"
  FROM appointments t
    JOIN LATERAL (:offering) AS p ON true
    JOIN program_practitioners m ON m.tenant_id = :tenantId AND m.program_id = t.program_id
      AND m.practitioner_id <> t.practitioner_id
    JOIN practitioners d ON d.tenant_id = :tenantId AND d.id = m.practitioner_id AND d.active
      AND (d.organization_id IS NULL OR d.organization_id = :organizationId::uuid)
      AND (d.company_id IS NULL OR d.company_id = :companyId::uuid)
  WHERE t.tenant_id = :tenantId AND t.id = ANY(:ids::uuid[]) AND t.status IN ${MOVABLE_STATUSES}
    AND t.starts_at > :now::timestamptz AND ${FREE_TIME} = t.ends_at - t.starts_at AND (${BUSY}) IS NULL
  GROUP BY m.practitioner_id ORDER BY count(*) DESC, m.practitioner_id`;

/**
 * Returns the active practitioners who can take over at least one of the appointments `ids` from another practitioner
 * of the same program. The one who can take over the most appointments comes first. A practitioner can take over an
 * appointment in these conditions:
 * - The practitioner's free slots of one rule in the program cover exactly the time of the appointment. These slots are
 *   up to date ({@link IS_UP_TO_DATE}).
 * - No live appointment ({@link isLive}) or live hold of the practitioner overlaps this time.
 * - The appointment is PENDING or CONFIRMED, and has not started.
 * - The principal can see the practitioner, and can book the appointment's service in the program.
 *
 * Does not check the capacity of the day.
 */
export async function findSubstitutes(
  transaction: Transaction,
  principal: Principal,
  ids: readonly string[],
  nowMs: number,
): Promise<Substitute[]> {
  const { tenantId } = transaction;
  const { organizationId = null, companyId = null } = principal;
  const offering = offeringPrograms({ tenantId }, principal, sql.ref("t.service_id"))
    .whereRaw("p.id = t.program_id")
    .select("p.outdated_from");
  const bindings = { tenantId, organizationId, companyId, ids: ids as string[], now: new Date(nowMs), offering };
  return readRecords(transaction, sql.raw(SUBSTITUTES, bindings));
}
