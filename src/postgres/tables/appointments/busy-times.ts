import type { Transaction } from "../../../call.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES } from "./appointment-status.js";
import type { AppointmentPlacement } from "./appointments.js";

/**
 * The operands of {@link busyTime} and {@link isBusyAt}. Each is SQL, for example a column or a placeholder with its
 * type.
 */
export interface ComparedTime {
  readonly tenantId: string;
  readonly personId: string;
  readonly startsAt: string;
  readonly endsAt: string;
  /**
   * The id of an appointment to ignore; NULL ignores none. To ignore several appointments `a`, add a condition to the
   * SQL: `NULL::uuid AND a.id <> ALL(:exceptIds::uuid[])`.
   */
  readonly exceptId: string;
  /** The current time. A hold counts only if it expires later. */
  readonly now: string;
  /** The id of a hold to ignore. NULL or undefined ignores none. */
  readonly exceptHoldId?: string;
}

/**
 * Returns SQL for the end of the visit of the appointment or hold `row`. From this time until `ends_at`, only the
 * practitioner is busy. `visitEndOf` returns the same time for a record.
 */
export function visitEnd(row: string): string {
  const isWithin = `${row}.visit_ends_at > ${row}.starts_at AND ${row}.visit_ends_at < ${row}.ends_at`;
  return `CASE WHEN ${isWithin} THEN ${row}.visit_ends_at ELSE ${row}.ends_at END`;
}

/**
 * Returns SQL that selects the id of one live appointment ({@link isLive}) or live hold of a person that overlaps
 * a time. The SQL selects no row if the person is free. To read few rows by index, it does the following:
 * - It compares instants. Under row-level security, no index serves range operators, because they are not leakproof.
 * - It reads only appointments that start during the time or in the 24 hours before it. No appointment lasts longer.
 * - It checks only the last of these appointments. The exclusion constraints allow no overlap of a person's
 *   appointments, except overbooked ones of a practitioner. So for a practitioner, it also checks each overbooked one.
 */
export function busyTime(person: Person, time: ComparedTime): string {
  const { live, end, holds } = partsOf(person, time);
  const last = (condition: string) => `SELECT a.id FROM (SELECT a.id, ${end} AS ends_at FROM appointments a
      WHERE ${live} ${condition} ORDER BY a.starts_at DESC LIMIT 1) AS a WHERE a.ends_at > ${time.startsAt}`;
  const overbooked = `SELECT a.id FROM appointments a WHERE ${live} AND a.overbooked AND a.ends_at > ${time.startsAt}`;
  const appointments = person === "patient_id" ? last("") : `${last("AND NOT a.overbooked")} UNION ALL ${overbooked}`;
  return `${appointments} UNION ALL SELECT h.id ${holds} LIMIT 1`;
}

/**
 * Returns SQL for whether a person has a live appointment ({@link isLive}) or live hold that overlaps a time. For
 * a single time, this SQL costs less than that of {@link busyTime}, because its plan is smaller. It may read more rows:
 * all appointments of the person in the 24 hours before the time.
 */
export function isBusyAt(person: Person, time: ComparedTime): string {
  const { live, end, holds } = partsOf(person, time);
  return `(EXISTS (SELECT FROM appointments a WHERE ${live} AND ${end} > ${time.startsAt}) OR EXISTS (SELECT ${holds}))`;
}

type Person = "patient_id" | "practitioner_id";

/**
 * Returns three parts of the SQL of {@link busyTime} and {@link isBusyAt}:
 * - `live`: the conditions on live appointments `a`, except `exceptId`, that can overlap the time.
 * - `end`: the time until which such an appointment makes the person busy.
 * - `holds`: the FROM clause and the conditions that select live holds `h` (not ended, not expired) that overlap the
 *   time, except `exceptHoldId`.
 */
function partsOf(person: Person, time: ComparedTime) {
  const { tenantId, personId, startsAt, endsAt, exceptId, now, exceptHoldId } = time;
  const starting = (row: string) => `${row}.tenant_id = ${tenantId} AND ${row}.${person} = ${personId}
        AND ${row}.starts_at > ${startsAt} - interval '24 hours' AND ${row}.starts_at < ${endsAt}`;
  const endOf = (row: string) => (person === "patient_id" ? visitEnd(row) : `${row}.ends_at`);
  const except = exceptHoldId === undefined ? "" : `AND h.id IS DISTINCT FROM ${exceptHoldId}`;
  return {
    live: `${starting("a")} AND a.status IN ${LIVE_STATUSES} AND a.id IS DISTINCT FROM ${exceptId}`,
    end: endOf("a"),
    holds: `FROM appointment_holds h WHERE ${starting("h")} AND h.ended_at IS NULL AND ${endOf("h")} > ${startsAt}
        AND h.expires_at > ${now} ${except}`,
  };
}

/**
 * Returns whether a live appointment ({@link isLive}) or a live hold of a person overlaps a time. A hold is live until
 * it ends or expires. For a patient, appointments and holds end without their buffer. Ignores the appointment
 * `exceptId`.
 */
export async function isBusy(
  transaction: Transaction,
  who: { readonly patientId: string } | { readonly practitionerId: string },
  { startsAt, endsAt }: Pick<AppointmentPlacement, "startsAt" | "endsAt">,
  exceptId: string | undefined,
  nowMs: number,
): Promise<boolean> {
  const [person, personId] =
    "patientId" in who ? (["patient_id", who.patientId] as const) : (["practitioner_id", who.practitionerId] as const);
  const now = new Date(nowMs);
  const bindings = { tenantId: transaction.tenantId, personId, startsAt, endsAt, exceptId: exceptId ?? null, now };
  const query = sql.raw(`SELECT ${isBusyAt(person, PLACEHOLDERS)} AS busy`, bindings);
  return (await readOnlyRow<{ readonly busy: boolean }>(transaction, query)).busy;
}

/** The ids of two overlapping appointments. `one` belongs to the first patient, `other` to the second patient. */
export interface Overlap {
  readonly one: string;
  readonly other: string;
}

/**
 * Returns at most `limit` pairs of overlapping live appointments ({@link isLive}) of two patients, ordered by the start
 * of the first patient's appointment. Each appointment counts until its visit ends, without the buffer.
 */
export async function overlapsOf(
  transaction: Transaction,
  [oneId, otherId]: readonly [string, string],
  limit: number,
): Promise<Overlap[]> {
  const query = `SELECT a.id AS one, b.id AS other FROM appointments a
    JOIN appointments b ON b.tenant_id = :tenantId AND b.patient_id = :otherId AND b.status IN ${LIVE_STATUSES}
      AND b.starts_at > a.starts_at - interval '24 hours' AND b.starts_at < ${visitEnd("a")} AND ${visitEnd("b")} > a.starts_at
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
  now: ":now::timestamptz",
};
