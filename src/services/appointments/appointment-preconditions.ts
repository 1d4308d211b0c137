import type { Principal } from "../../call.js";
import { conflict, type FieldError } from "../../errors.js";
import { isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import { displacementOf, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import type { BookingLimits, CountedLimit } from "../../postgres/tables/settings/booking-limits.js";
import { formatInstant } from "../../scheduling/local-clock.js";

/**
 * Requires that an appointment can be rescheduled. Throws 409 on `field` in these cases:
 * - its status is neither PENDING nor CONFIRMED
 * - it has started
 * - its patient is not active or was erased
 */
export function requireMovable(
  { status, startsAt }: AppointmentRecord,
  patient: PatientRecord | undefined,
  field: string,
  nowMs: number,
): void {
  if (!isMovable(status)) {
    const message = `the appointment is ${status}; only PENDING or CONFIRMED can be rescheduled`;
    throw conflict({ code: "STATE_NOT_ALLOWED", field, message });
  }
  if (startsAt.getTime() <= nowMs) {
    throw conflict({
      code: "STATE_NOT_ALLOWED",
      field,
      message: "the appointment has started and can no longer be rescheduled",
    });
  }
  requireActive(patient, field);
}

/**
 * The data that decide whether it is too late to change an appointment: the caller, the slots that the appointment
 * occupies, and the current time.
 */
export interface LateChange {
  readonly principal: Pick<Principal, "scopes">;
  readonly slots: readonly SlotRecord[];
  readonly nowMs: number;
  /** The field of the request with the id of the appointment. Defaults to `appointmentId`. */
  readonly field?: string;
}

/**
 * The scope of supervisors. The limits of a tenant for bookings, reschedules and cancellations do not apply to them.
 */
const SUPERVISOR_SCOPE = "scheduling:overbook";

/**
 * Returns whether the limits of the tenant apply to a caller. They do not apply to supervisors, who have
 * {@link SUPERVISOR_SCOPE}.
 */
export function isBound({ scopes }: Pick<Principal, "scopes">): boolean {
  return !scopes.has(SUPERVISOR_SCOPE);
}

/** Throws 409 if it is too late to cancel or reschedule an appointment, see {@link lateConflicts}. */
export function requireInTime(...terms: Parameters<typeof lateConflicts>): void {
  const [error] = lateConflicts(...terms);
  if (error !== undefined) throw conflict(error);
}

/**
 * Returns a conflict TOO_LATE on `field` if an appointment begins in less than `hours` hours. Returns no conflict:
 * - without `hours`
 * - for supervisors
 * - for a displaced appointment ({@link displacementOf}), because its patient did not cause the displacement
 */
export function lateConflicts(
  { startsAt }: Pick<AppointmentRecord, "startsAt">,
  step: "be cancelled" | "be rescheduled",
  hours: number | undefined,
  { principal, slots, nowMs, field = "appointmentId" }: LateChange,
): FieldError[] {
  if (hours === undefined || !isBound(principal) || displacementOf(slots) !== undefined) return [];
  const latestMs = startsAt.getTime() - hours * 3_600_000;
  if (nowMs <= latestMs) return [];
  const message = `the appointment cannot ${step} after ${formatInstant(latestMs)}: a supervisor can do it`;
  return [{ code: "TOO_LATE", field, message }];
}

/**
 * Requires that the patient of an appointment was not erased. Otherwise throws 409, because the appointment and its
 * history must keep no new text about an erased patient.
 */
export function requireUnerased(patient: PatientRecord | undefined): void {
  if (patient !== undefined) return;
  const message = "the patient of the appointment was erased";
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

/** Requires that a patient is active. Otherwise, or if `patient` is undefined, throws 409 on `field`. */
export function requireActive(patient: PatientRecord | undefined, field: string): void {
  const [error] = inactivePatient(patient, field);
  if (error !== undefined) throw conflict(error);
}

/**
 * Returns a conflict on `field` if a patient is not active, or if `patient` is undefined. Otherwise returns no items.
 */
export function inactivePatient(patient: PatientRecord | undefined, field: string): FieldError[] {
  if (patient?.status === "ACTIVE") return [];
  return [{ code: "PATIENT_NOT_ACTIVE", field, message: "the patient is not ACTIVE" }];
}

/**
 * Returns a conflict on `field` for each limit of the tenant that the patient has reached; none for supervisors. A
 * tenant can limit:
 * - no-shows within a year
 * - future appointments
 * - future appointments for the service
 * - appointments for the service on the day of the new appointment
 */
export function limitConflicts(
  limits: Partial<BookingLimits>,
  principal: Pick<Principal, "scopes">,
  field: string,
): FieldError[] {
  const { ahead, ofService, noShows } = limits;
  if (!isBound(principal)) return [];
  const found: FieldError[] = [];
  if (isReached(noShows)) {
    const message = `the patient has missed ${noShows.count} appointments within a year: a supervisor must book`;
    found.push({ code: "SUPERVISOR_REQUIRED", field, message });
  }
  if (isReached(ahead)) found.push(tooMany(field, `the patient has ${ahead.count} appointments ahead`));
  if (isReached(ofService))
    found.push(tooMany(field, `the patient has ${ofService.count} appointments ahead for the service`));
  return [...found, ...roomConflicts(limits, principal, field)];
}

/**
 * Returns a conflict on `field` if the patient has reached the tenant's limit of appointments for one service on one
 * day. The limit does not apply to supervisors.
 */
export function roomConflicts(
  { onDay }: Partial<Pick<BookingLimits, "onDay">>,
  principal: Pick<Principal, "scopes">,
  field: string,
): FieldError[] {
  if (!isBound(principal) || !isReached(onDay)) return [];
  return [tooMany(field, `the patient has ${onDay.count} appointments for the service on that day`)];
}

function isReached(limit: CountedLimit | undefined): limit is CountedLimit {
  return limit !== undefined && limit.count >= limit.most;
}

function tooMany(field: string, what: string): FieldError {
  return { code: "PATIENT_LIMIT", field, message: `${what}, as many as the tenant allows` };
}
