import type { Transaction } from "../../../call.js";
import { readOnlyRow, readRecord } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES, MOVABLE_STATUSES } from "../appointments/appointment-status.js";

/**
 * `most` is a limit that the tenant sets. `count` is the number of the patient's appointments or no-shows that count
 * for this limit.
 */
export interface CountedLimit {
  readonly most: number;
  readonly count: number;
}

/** The tenant's limits for a booking. A limit that is not set is undefined. No limit applies to supervisors. */
export interface BookingLimits {
  /** Limits the number of the patient's future appointments that are PENDING or CONFIRMED. */
  readonly ahead: CountedLimit | undefined;
  /**
   * Limits the number of the patient's future appointments for the same healthcare service that are PENDING or
   * CONFIRMED.
   */
  readonly ofService: CountedLimit | undefined;
  /**
   * Limits the number of the patient's appointments for the same healthcare service on the local day of the new
   * appointment. Cancelled appointments and no-shows do not count.
   */
  readonly onDay: CountedLimit | undefined;
  /** With `most` or more no-shows of the patient in the last {@link NO_SHOW_DAYS} days, only a supervisor can book. */
  readonly noShows: CountedLimit | undefined;
}

/** The tenant's settings for a reschedule. A limit that is not set is undefined. No limit applies to supervisors. */
export interface MoveLimits extends Pick<BookingLimits, "onDay"> {
  /**
   * An appointment can be rescheduled until this many hours before its start; undefined for no limit. A displaced
   * appointment can always be rescheduled.
   */
  readonly latestHours: number | undefined;
  /** Whether the tenant offers freed slots to its waitlist. */
  readonly offersFreedSlots: boolean;
}

/**
 * The patient, the healthcare service and the day of a new appointment. `on` is the local date (YYYY-MM-DD), or the id
 * of a slot on this day.
 */
export interface LimitedVisit {
  readonly patientId: string;
  readonly serviceId: string;
  readonly on: { readonly localDate: string } | { readonly slotId: string };
}

const NO_SHOW_DAYS = 365;

const NO_LIMITS: BookingLimits = { ahead: undefined, ofService: undefined, onDay: undefined, noShows: undefined };

/** The settings of the tenant for bookings and reschedules. */
interface LimitSettings extends Omit<MoveLimits, keyof BookingLimits> {
  readonly isAnySet: boolean;
  /**
   * The maximum number of a patient's appointments for a service on a local day, except cancelled ones and no-shows.
   */
  readonly mostOnDay: number | undefined;
}

const NO_SETTINGS: LimitSettings = {
  isAnySet: false,
  mostOnDay: undefined,
  latestHours: undefined,
  offersFreedSlots: false,
};

/**
 * Returns the limits that the tenant sets for a booking, with the patient's counts. Call this right after the statement
 * that locks the patient, so that one round trip sends both statements. If the tenant sets a limit, a second round trip
 * reads the counts.
 */
export async function findBookingLimits(
  transaction: Transaction,
  { patientId, serviceId, on }: LimitedVisit,
  nowMs: number,
): Promise<BookingLimits> {
  const { isAnySet } = await readSettings(transaction);
  const key = { tenantId: transaction.tenantId, patientId, serviceId, now: new Date(nowMs) };
  const statement = "slotId" in on ? limitsAtSlot({ ...key, slotId: on.slotId }) : limitsOnDate({ ...key, ...on });
  return (isAnySet ? await readRecord<BookingLimits>(transaction, statement) : undefined) ?? NO_LIMITS;
}

/**
 * Returns the tenant's settings for moving the appointment `appointmentId` to the slot `slotId`. `onDay` counts the
 * patient's other appointments for the same service on the day of this slot, except cancelled ones and no-shows. The
 * count is 0 if the move does not change the day, or if `slotId` is undefined.
 *
 * Call this right after the statement that locks the patient, so that one round trip sends both statements.
 */
export async function findMoveLimits(
  transaction: Transaction,
  appointmentId: string,
  slotId: string | undefined,
): Promise<MoveLimits> {
  const { mostOnDay: most, latestHours, offersFreedSlots } = await readSettings(transaction);
  if (most === undefined) return { latestHours, offersFreedSlots, onDay: undefined };
  const values = { tenantId: transaction.tenantId, appointmentId, slotId: slotId ?? null };
  const { count } = await readOnlyRow<{ readonly count: number }>(transaction, othersOnDay(values));
  return { latestHours, offersFreedSlots, onDay: { most, count } };
}

async function readSettings(transaction: Transaction): Promise<LimitSettings> {
  return (await readRecord<LimitSettings>(transaction, settings({ tenantId: transaction.tenantId }))) ?? NO_SETTINGS;
}

/**
 * Reads whether the tenant sets any limit for a booking, and the settings for a reschedule. Does not count
 * appointments, because PostgreSQL would spend time on the subqueries for these counts even if no limit is set.
 */
const settings = prepared(["tenantId"], (names) =>
  sql.raw(
    `SELECT coalesce(max_appointments_ahead, max_appointments_ahead_per_service, max_appointments_per_service_and_day,
        supervised_after_no_shows) IS NOT NULL AS "isAnySet", max_appointments_per_service_and_day AS "mostOnDay",
      latest_reschedule_hours AS "latestHours", freed_slot_offer_minutes IS NOT NULL AS "offersFreedSlots"
    FROM tenant_settings WHERE tenant_id = :tenantId`,
    names,
  ),
);

const NAMES = ["tenantId", "patientId", "serviceId", "now"] as const;
const limitsOnDate = prepared([...NAMES, "localDate"], (names) => sql.raw(limits(":localDate::date"), names));
const DAY_OF_SLOT = "(SELECT s.local_date FROM slots s WHERE s.tenant_id = :tenantId AND s.id = :slotId::uuid)";
const limitsAtSlot = prepared([...NAMES, "slotId"], (names) => sql.raw(limits(DAY_OF_SLOT), names));

const othersOnDay = prepared(["tenantId", "appointmentId", "slotId"], (names) =>
  sql.raw(
    `SELECT count(*)::integer AS count FROM appointments o JOIN appointments a ON a.tenant_id = :tenantId
      AND a.patient_id = o.patient_id AND a.service_id = o.service_id AND a.local_date = ${DAY_OF_SLOT}
      AND a.status IN ${LIVE_STATUSES}
    WHERE o.tenant_id = :tenantId AND o.id = :appointmentId AND o.local_date <> ${DAY_OF_SLOT}`,
    names,
  ),
);

/**
 * Returns SQL that selects the local dates on which a patient has as many appointments for the service `:serviceId` as
 * the tenant allows. Cancelled appointments and no-shows do not count. Does not select the date of the appointment
 * `exceptId`. Selects no date if the tenant sets no limit. `patientId` and `exceptId` are SQL expressions.
 */
export function limitedDates(patientId: string, exceptId: string): string {
  const most = "t.max_appointments_per_service_and_day";
  return `SELECT a.local_date FROM tenant_settings t JOIN appointments a ON a.tenant_id = :tenantId
      AND a.patient_id = ${patientId} AND a.service_id = :serviceId AND a.status IN ${LIVE_STATUSES}
    WHERE t.tenant_id = :tenantId AND ${most} IS NOT NULL
    GROUP BY a.local_date, ${most} HAVING count(*) >= ${most} AND bool_and(a.id IS DISTINCT FROM ${exceptId})`;
}

function limits(date: string): string {
  const mine = `FROM appointments a WHERE a.tenant_id = :tenantId AND a.patient_id = :patientId`;
  const ahead = `${mine} AND a.starts_at > :now::timestamptz AND a.status IN ${MOVABLE_STATUSES}`;
  return `SELECT ${counted("max_appointments_ahead", ahead)} AS "ahead",
      ${counted("max_appointments_ahead_per_service", `${ahead} AND a.service_id = :serviceId`)} AS "ofService",
      ${counted(
        "max_appointments_per_service_and_day",
        `${mine} AND a.service_id = :serviceId AND a.local_date = ${date} AND a.status IN ${LIVE_STATUSES}`,
      )} AS "onDay",
      ${counted(
        "supervised_after_no_shows",
        `${mine} AND a.status = 'NO_SHOW' AND a.starts_at > :now::timestamptz - interval '${NO_SHOW_DAYS} days'`,
      )} AS "noShows"
    FROM tenant_settings t WHERE t.tenant_id = :tenantId`;
}

/** Returns SQL for a {@link CountedLimit}; null if the limit is not set. Without a limit, PostgreSQL does not count. */
function counted(limit: string, from: string): string {
  return `CASE WHEN t.${limit} IS NOT NULL THEN
    json_build_object('most', t.${limit}, 'count', (SELECT count(*) ${from})) END`;
}
