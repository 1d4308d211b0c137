import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES } from "./appointment-status.js";

/**
 * The patient and the healthcare service of a visit. `on` is the local date (YYYY-MM-DD) or the slot of the visit. Only
 * the calendar year of the visit matters.
 */
export interface Visit {
  readonly patientId: string;
  readonly serviceId: string;
  readonly on: { readonly localDate: string } | { readonly slotId: string };
}

/**
 * Returns whether the patient has no other appointment for the healthcare service in the calendar year of a visit,
 * before or after the visit. Appointments with status CANCELLED or NO_SHOW and the appointments `exceptIds` do not
 * count. Call this after locking the patient.
 */
export async function isFirstVisit(
  transaction: Transaction,
  { patientId, serviceId, on }: Visit,
  exceptIds: readonly string[] = [],
): Promise<boolean> {
  const key = { tenantId: transaction.tenantId, patientId, serviceId, exceptIds };
  const statement =
    "slotId" in on
      ? otherVisitNearSlot({ ...key, slotId: on.slotId })
      : otherVisitNearDate({ ...key, localDate: on.localDate });
  return (await transaction.rows(statement)).length === 0;
}

const NAMES = ["tenantId", "patientId", "serviceId", "exceptIds"] as const;
const otherVisitNearDate = prepared([...NAMES, "localDate"], (names) => sql.raw(otherVisit(":localDate::date"), names));
const otherVisitNearSlot = prepared([...NAMES, "slotId"], (names) =>
  sql.raw(otherVisit("(SELECT s.local_date FROM slots s WHERE s.tenant_id = :tenantId AND s.id = :slotId)"), names),
);

function otherVisit(date: string): string {
  const year = `date_trunc('year', ${date}::timestamp)`;
  return `SELECT a.id FROM appointments a WHERE a.tenant_id = :tenantId AND a.patient_id = :patientId
    AND a.service_id = :serviceId AND a.status IN ${LIVE_STATUSES} AND a.id <> ALL(:exceptIds::uuid[])
    AND a.starts_at >= ${year} AT TIME ZONE 'America/Bogota'
    AND a.starts_at < (${year} + interval '1 year') AT TIME ZONE 'America/Bogota' LIMIT 1`;
}
