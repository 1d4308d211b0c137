import type { ReadyCall } from "../../call.js";
import { type FieldError, unknownReferences, validationFailed } from "../../errors.js";
import type { OptionClaims } from "../../option-tokens/option-claims.js";
import { type AppointmentRecord, visitMinutesOf } from "../../postgres/tables/appointments/appointments.js";
import {
  appointmentTypes,
  consultationTypes,
  payers,
  requestSources,
} from "../../postgres/tables/catalogs/catalogs.js";
import type { Locked } from "../../postgres/tables/locks.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { inactive, missing } from "../resources/preconditions.js";
import { inactivePatient } from "./appointment-preconditions.js";
import type { TargetErrors } from "./booking-target.js";
import { type GivenWait, judgeWait, requireReplaceable, type Wait } from "./booking-wait.js";
import { closedEntry, requireServes } from "./served-entry.js";

/** The ids of the request source, the appointment type, the consultation type and the payer of a booking. */
export interface BookingReferences {
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
  readonly consultationTypeId?: string | undefined;
  readonly payerId?: string | undefined;
}

/** The result of checking the references of a request. */
export interface JudgedReferences {
  readonly missing: readonly FieldError[];
  /** One error for each reference that is not active and for each date out of range. */
  readonly unusable: readonly FieldError[];
  /** Minutes that a visit of the appointment type takes. 0 if the type does not exist. */
  readonly typeMinutes: number;
  /**
   * The buffer of the appointment type: for how many minutes after the visit the practitioner's time stays reserved. 0
   * if the type does not exist.
   */
  readonly bufferMinutes: number;
  readonly wait: Wait;
  /** The appointment that the booking replaces; undefined if there is none. */
  readonly replaced: AppointmentRecord | undefined;
}

/**
 * Returns the {@link Wait} of a booking, and the errors in its dates and references. Resources that the principal may
 * not see are reported as missing. Does not report an unknown waitlist entry.
 */
export async function judgeReferences(
  request: BookingReferences & GivenWait,
  call: ReadyCall,
  nowMs: number,
): Promise<JudgedReferences> {
  const [source, type, consultation, payer, judgedWait] = await Promise.all([
    isActive(call, requestSources, request.requestSourceId),
    findResource(call.transaction, call.principal, appointmentTypes, request.appointmentTypeId),
    request.consultationTypeId === undefined || isActive(call, consultationTypes, request.consultationTypeId),
    request.payerId === undefined || isActive(call, payers, request.payerId),
    judgeWait(request, call, nowMs),
  ]);
  const judged = [
    ["requestSourceId", source],
    ["appointmentTypeId", type?.active],
    ["consultationTypeId", consultation],
    ["payerId", payer],
  ] as const;
  const absent = judged.filter(([, active]) => active === undefined).map(([field]) => missing(field));
  const unusable = judged.filter(([, active]) => active === false).map(([field]) => inactive(field));
  return {
    missing: [...absent, ...judgedWait.missing],
    unusable: [...unusable, ...judgedWait.invalid],
    typeMinutes: type?.durationMinutes ?? 0,
    bufferMinutes: type?.bufferMinutes ?? 0,
    wait: judgedWait.wait,
    replaced: judgedWait.replaced,
  };
}

/** The length of an appointment. */
export interface VisitLength {
  /** Minutes that the slots of the appointment must cover: the visit and the buffer. */
  readonly minutes: number;
  /** Minutes of the visit without the buffer after it; undefined if there is no buffer. */
  readonly visitMinutes: number | undefined;
}

/** Returns the length of a visit with the buffer after it. Both arguments are in minutes. */
export function withBuffer(durationMinutes: number, bufferMinutes: number): VisitLength {
  return { minutes: durationMinutes + bufferMinutes, visitMinutes: bufferMinutes > 0 ? durationMinutes : undefined };
}

/**
 * Returns the length of an appointment to move. `minutes` is undefined for an appointment with a single slot, unless it
 * is overbooked or has a `visitEndsAt`. Such an appointment can move to a slot of any length, even if it is displaced.
 */
export function lengthHeld(appointment: AppointmentRecord, { length }: readonly SlotRecord[]) {
  const { overbooked, startsAt, endsAt, visitEndsAt } = appointment;
  const isFixed = length > 1 || overbooked || visitEndsAt !== undefined;
  const minutes = isFixed ? (endsAt.getTime() - startsAt.getTime()) / 60_000 : undefined;
  return { minutes, visitMinutes: visitMinutesOf(appointment) };
}

/**
 * Requires that an option is at least as long as the appointment to move ({@link lengthHeld}). Otherwise throws 422:
 * the appointment has become longer since the search. Accepts an option of any length if `lengthHeld` returns no
 * minutes. `held` are the slots of the appointment.
 */
export function requireLength(
  { minutes }: Pick<OptionClaims, "minutes">,
  appointment: AppointmentRecord,
  held: readonly SlotRecord[],
): void {
  if (minutes >= (lengthHeld(appointment, held).minutes ?? 0)) return;
  const message = "the appointment has become longer than this option: search for options again";
  throw validationFailed([{ code: "INVALID_OPTION", field: "optionToken", message }]);
}

/**
 * Throws 404 if the patient, the waitlist entry or a reference does not exist. Then throws 422 if a reference is not
 * active or a date is out of range. Otherwise returns the conflicts: the patient is not active, or the waitlist entry
 * is closed.
 */
export function requireUsable(
  { patient, waitlistEntry }: Pick<Locked, "patient" | "waitlistEntry">,
  { missing: unknown, unusable }: Pick<JudgedReferences, "missing" | "unusable">,
  waitlistEntryId: string | undefined,
): FieldError[] {
  const absent = absentOf({ patient, waitlistEntry }, unknown, waitlistEntryId);
  if (absent.length > 0) throw unknownReferences(absent);
  if (unusable.length > 0) throw validationFailed(unusable);
  return [...inactivePatient(patient, "patientId"), ...closedEntry(waitlistEntry)];
}

/**
 * Returns an error for each resource that does not exist: the patient, the waitlist entry, and the references.
 * `unknown` holds the errors of the references.
 */
export function absentOf(
  { patient, waitlistEntry }: Pick<Locked, "patient" | "waitlistEntry">,
  unknown: readonly FieldError[],
  waitlistEntryId: string | undefined,
): FieldError[] {
  return [
    ...(patient === undefined ? [missing("patientId")] : []),
    ...unknown,
    ...(waitlistEntryId !== undefined && waitlistEntry === undefined ? [missing("waitlistEntryId")] : []),
  ];
}

/**
 * Returns the conflicts: the patient is not active, or the waitlist entry is closed.
 *
 * Throws, in this order:
 * - 404 if the patient, the waitlist entry, a reference, the program, the practitioner or the service does not exist
 * - 422 if a reference, the program, the practitioner or the service is not active, or a date is out of range
 * - 422 if the waitlist entry is not for the patient and the service
 * - 422 if the replaced appointment is not for the patient and the service, or is neither CANCELLED nor NO_SHOW
 */
export function requireBookable(
  request: GivenWait & { readonly patientId: string; readonly serviceId: string },
  locked: Pick<Locked, "patient" | "waitlistEntry">,
  references: JudgedReferences,
  target: TargetErrors,
): FieldError[] {
  const { patientId, serviceId, waitlistEntryId } = request;
  const unusable = [...references.unusable, ...target.inactive];
  const absent = [...references.missing, ...target.missing];
  const found = requireUsable(locked, { missing: absent, unusable }, waitlistEntryId);
  requireServes(locked.waitlistEntry, patientId, serviceId);
  requireReplaceable(references.replaced, patientId, serviceId);
  return found;
}

async function isActive(
  call: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string,
): Promise<boolean | undefined> {
  return (await findResource(call.transaction, call.principal, table, id))?.active;
}
