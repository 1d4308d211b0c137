import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES } from "./appointment-status.js";
import type { AppointmentPlace } from "./appointments.js";

/** What a time is compared with, each part as SQL: a column, or a placeholder with its type. */
export interface ComparedTime {
  readonly tenantId: string;
  readonly personId: string;
  readonly startsAt: string;
  readonly endsAt: string;
  /** An appointment that does not count; null for none. */
  readonly exceptId: string;
}

/**
 * SQL for the id of a live appointment that a person has in a time, in the order of the parts of {@link ComparedTime}, but
 * with `startsAt` on both sides of `endsAt`. Two appointments overlap if each begins before the other ends; those that
 * only touch do not. The exclusion constraints say the same with ranges, whose operators are not leakproof, so that under
 * row-level security no index serves them. No appointment lasts longer than 24 hours.
 */
export function busyTime(
  person: "patient_id" | "practitioner_id",
  { tenantId, personId, startsAt, endsAt, exceptId }: ComparedTime,
): string {
  return `SELECT a.id FROM appointments a WHERE a.tenant_id = ${tenantId} AND a.${person} = ${personId}
    AND a.status IN ${LIVE_STATUSES} AND a.starts_at > ${startsAt} - interval '24 hours' AND a.starts_at < ${endsAt}
    AND a.ends_at > ${startsAt} AND a.id IS DISTINCT FROM ${exceptId} LIMIT 1`;
}

/** Whether the person has a live appointment in that time, but for the one named. */
export async function isBusy(
  transaction: Transaction,
  who: { readonly patientId: string } | { readonly practitionerId: string },
  { startsAt, endsAt }: Pick<AppointmentPlace, "startsAt" | "endsAt">,
  exceptId: string | undefined,
): Promise<boolean> {
  const [person, personId] =
    "patientId" in who ? (["patient_id", who.patientId] as const) : (["practitioner_id", who.practitionerId] as const);
  const bindings = { tenantId: transaction.tenantId, personId, startsAt, endsAt, exceptId: exceptId ?? null };
  return (await transaction.rows(sql.raw(busyTime(person, PLACEHOLDERS), bindings))).length > 0;
}

/** Appointments of two patients that overlap. */
export interface Overlap {
  readonly one: string;
  readonly other: string;
}

/** Pairs of live appointments of two patients that overlap, at most `limit`, by the start of the first one's. */
export async function overlapsOf(
  transaction: Transaction,
  [oneId, otherId]: readonly [string, string],
  limit: number,
): Promise<Overlap[]> {
  const query = `SELECT a.id AS one, b.id AS other FROM appointments a
    JOIN appointments b ON b.tenant_id = :tenantId AND b.patient_id = :otherId AND b.status IN ${LIVE_STATUSES}
      AND b.starts_at > a.starts_at - interval '24 hours' AND b.starts_at < a.ends_at AND b.ends_at > a.starts_at
    WHERE a.tenant_id = :tenantId AND a.patient_id = :oneId AND a.status IN ${LIVE_STATUSES}
    ORDER BY a.starts_at, a.id, b.id LIMIT :limit`;
  return transaction.rows(sql.raw(query, { tenantId: transaction.tenantId, oneId, otherId, limit }));
}

const PLACEHOLDERS: ComparedTime = {
  tenantId: ":tenantId",
  personId: ":personId",
  startsAt: ":startsAt::timestamptz",
  endsAt: ":endsAt",
  exceptId: ":exceptId::uuid",
};
