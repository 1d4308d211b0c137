import type { ReadyCall } from "../../call.js";
import { type FieldError, validationFailed } from "../../errors.js";
import { type AppointmentRecord, findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { readWaitLimit } from "../../postgres/tables/catalogs/wait-limits.js";
import { findWaitlistEntry } from "../../postgres/tables/desk/waitlist.js";
import { lastDayOfWait } from "../../scheduling/last-day-of-wait.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { earlierDate, firstLocalDate, laterDate, yearsAfter } from "../../scheduling/local-date.js";
import { missing } from "../resources/preconditions.js";

/** The fields of a booking about the wait of the patient. Dates are local, YYYY-MM-DD. */
export interface GivenWait {
  /** The date on which the patient first asked for the visit; see {@link judgeWait} for its default. */
  readonly requestedOn?: string | undefined;
  /** The date on which the patient wants the visit. */
  readonly desiredOn?: string | undefined;
  readonly waitlistEntryId?: string | undefined;
  readonly replacesAppointmentId?: string | undefined;
  readonly appointmentTypeId: string;
}

/**
 * The wait of a patient, as local dates (YYYY-MM-DD). `dueOn` is the last day of the allowed wait; undefined if the
 * wait has no maximum.
 */
export type Wait = Pick<AppointmentRecord, "dueOn" | "desiredOn"> & { readonly requestedOn: string };

/** The wait of a booking, and the errors in the fields of its request. */
export interface JudgedWait {
  readonly wait: Wait;
  /** The appointment that the booking replaces; undefined if there is none. */
  readonly replaced: AppointmentRecord | undefined;
  readonly missing: readonly FieldError[];
  readonly invalid: readonly FieldError[];
}

/** A request date is at most this many years before today. A desired date is at most this many years after today. */
const MAX_YEARS = 2;

/**
 * Returns the wait of a booking and the errors in its fields. If a past visit is recorded afterwards (EnterLateVisit),
 * `nowMs` is the time of the visit.
 *
 * The wait begins at the earliest of these dates:
 * - the date of `nowMs`
 * - the given request date
 * - the creation date of the waitlist entry
 * - the request date of the replaced appointment, or its creation date if it has no request date
 *
 * The due date follows from the active opportunity definition of the appointment type; without one, there is no due
 * date. The default of the desired date is the first date of the waitlist entry, but at least the date on which the
 * wait begins. Without an entry, it is the desired date of the replaced appointment.
 */
export async function judgeWait(given: GivenWait, call: ReadyCall, nowMs: number): Promise<JudgedWait> {
  const { waitlistEntryId, replacesAppointmentId, appointmentTypeId } = given;
  const { transaction } = call;
  const today = localDateAt(nowMs);
  const [entry, replaced, limit] = await Promise.all([
    waitlistEntryId === undefined ? undefined : findWaitlistEntry(transaction, waitlistEntryId),
    replacesAppointmentId === undefined ? undefined : findAppointment(transaction, replacesAppointmentId),
    readWaitLimit(transaction, { appointmentTypeId }, { from: earliestStart(given, today), through: today }),
  ]);
  const dates = [today, given.requestedOn, dateOf(entry), replaced?.requestedOn ?? dateOf(replaced)];
  const [requestedOn = today] = dates.filter((date) => date !== undefined).toSorted();
  const dueOn = limit && lastDayOfWait(requestedOn, limit, limit.holidays);
  const wishedOn = entry && laterDate(entry.dateFrom, requestedOn);
  const isUnknown = replacesAppointmentId !== undefined && replaced === undefined;
  return {
    wait: { requestedOn, dueOn, desiredOn: given.desiredOn ?? wishedOn ?? replaced?.desiredOn },
    replaced,
    missing: isUnknown ? [missing("replacesAppointmentId")] : [],
    invalid: dateErrors(given, requestedOn, today),
  };
}

/**
 * Throws 422 if the replaced appointment is for another patient or service, or is neither CANCELLED nor NO_SHOW.
 * Without a replaced appointment, does nothing.
 */
export function requireReplaceable(
  replaced: AppointmentRecord | undefined,
  patientId: string,
  serviceId: string,
): void {
  if (replaced === undefined) return;
  const message = replacementError(replaced, patientId, serviceId);
  if (message !== undefined) {
    throw validationFailed([{ code: "INVALID_VALUE", field: "replacesAppointmentId", message }]);
  }
}

function replacementError(replaced: AppointmentRecord, patientId: string, serviceId: string): string | undefined {
  if (replaced.patientId !== patientId) return "the appointment belongs to another patient";
  if (replaced.serviceId !== serviceId) return "the appointment is for another service";
  if (replaced.status === "CANCELLED" || replaced.status === "NO_SHOW") return undefined;
  return `the appointment is ${replaced.status}; only CANCELLED or NO_SHOW can be replaced`;
}

/**
 * Returns the date from which {@link judgeWait} reads holidays. The wait of a valid request does not begin earlier.
 *
 * - If the request names a waitlist entry or a replaced appointment: the earliest valid date ({@link firstLocalDate}).
 *   The entry or appointment is not known yet, because the same round trip reads it and the holidays.
 * - Otherwise: the given request date, or else today.
 */
function earliestStart({ requestedOn, waitlistEntryId, replacesAppointmentId }: GivenWait, today: string): string {
  const continues = waitlistEntryId !== undefined || replacesAppointmentId !== undefined;
  return continues ? firstLocalDate : (requestedOn ?? today);
}

function dateOf(created: { readonly createdAt: Date } | undefined): string | undefined {
  return created && localDateAt(created.createdAt.getTime());
}

/**
 * Returns an error for each given date that is out of range:
 * - `given.requestedOn` must be from two years before today through today, and not after `keptDesiredOn`
 * - `given.desiredOn` must be from `requestedOn` (the first day of the wait) through two years after today
 *
 * `keptDesiredOn` is the desired date that an existing appointment keeps. It defaults to today.
 */
export function dateErrors(
  given: Pick<GivenWait, "requestedOn" | "desiredOn">,
  requestedOn: string,
  today: string,
  keptDesiredOn = today,
): FieldError[] {
  const [earliest, latest] = [yearsAfter(today, -MAX_YEARS), yearsAfter(today, MAX_YEARS)];
  return [
    ...outside("requestedOn", given.requestedOn, earliest, earlierDate(today, keptDesiredOn), earliest),
    ...outside("desiredOn", given.desiredOn, requestedOn, latest, "requestedOn of the appointment"),
  ];
}

/**
 * Returns an error if a date is before `first` or after `last`. Its message has `shownFirst` in place of `first`:
 * `first` can be a value of the request, and a message must not repeat such a value.
 */
function outside(
  field: string,
  date: string | undefined,
  first: string,
  last: string,
  shownFirst: string,
): FieldError[] {
  if (date === undefined || (first <= date && date <= last)) return [];
  return [{ code: "OUT_OF_RANGE", field, message: `the value must be from ${shownFirst} through ${last}` }];
}
