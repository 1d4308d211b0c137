import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { unknownReferences, validationFailed } from "../../errors.js";
import { type AppointmentOption, AppointmentOptionSchema } from "../../gen/cupo/clinic/v1/appointment_option_pb.js";
import { WaitlistEntryDetails_Period } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { Option, OptionTokens, SealedOption } from "../../option-tokens/option-tokens.js";
import { findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import type { OptionQuery } from "../../postgres/tables/appointments/free-slots.js";
import { type OptionRecord, searchOptions } from "../../postgres/tables/appointments/option-search.js";
import { appointmentTypes } from "../../postgres/tables/catalogs/catalogs.js";
import { findPatientOf } from "../../postgres/tables/patients/patient-locks.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import { dayPeriods } from "../../scheduling/day-periods.js";
import { widestSpan } from "../../scheduling/horizon.js";
import { endOfLocalDay, localDateAt, startOfLocalDay } from "../../scheduling/local-clock.js";
import { earlierDate } from "../../scheduling/local-date.js";
import { findDueDate } from "../resources/due-date.js";
import { nameIn } from "../resources/enum-names.js";
import { startAfter } from "../resources/page-keys.js";
import { cutPage, type Page, type PageRequest, readPage } from "../resources/pages.js";
import { inactive, missing } from "../resources/preconditions.js";
import { requireActive, requireMovable } from "./appointment-preconditions.js";
import { lengthHeld, withBuffer } from "./booking-references.js";

/** The criteria of a slot search. */
export interface SlotCriteria {
  readonly serviceId: string;
  /** The first day, a local date (YYYY-MM-DD). `dateTo` is the last day, inclusive. */
  readonly dateFrom: string;
  readonly dateTo: string;
  readonly periods: readonly WaitlistEntryDetails_Period[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
}

/** The criteria of an option search. */
export interface OptionCriteria extends SlotCriteria {
  readonly patientId: string | undefined;
  /** The appointment to reschedule. Either this or `patientId` is set. */
  readonly appointmentId: string | undefined;
  /** The last local date of the allowed wait, from a waitlist entry. Used only in a search for a waitlist entry. */
  readonly dueOn: string | undefined;
  /** The type of a new appointment. It sets the length of options. Without it, an option for a patient is one slot. */
  readonly appointmentTypeId: string | undefined;
  /** The request field with the id of the patient, appointment or waitlist entry. Errors name this field. */
  readonly subjectField: "patientId" | "appointmentId" | "waitlistEntryId";
}

/**
 * Returns a page of options, earliest first, and `dueOn`, the last date of the allowed wait. Throws, in this order:
 * - 422 for an invalid page token
 * - 404 for an unknown patient or appointment; 409 if the patient is not active or the appointment cannot be moved
 * - 404 for an unknown appointment type; 422 if the type is not active, or the appointment is for another service
 */
export async function findOptions(
  criteria: OptionCriteria,
  request: PageRequest,
  call: ReadyCall,
  tokens: OptionTokens,
  nowMs: number,
): Promise<{ options: AppointmentOption[]; dueOn?: string; nextPageToken?: string }> {
  const filters = Object.values(criteria);
  const page = readPage(request, "options", filters);
  const list = { page, name: "options", filters };
  const search = (subject: SlotSubject) => pageOfSlots(criteria, subject, list, call, nowMs);
  const [{ dueOn, ...subject }, ahead] = await Promise.all([
    requireSubject(criteria, call, nowMs),
    dependsOnSubject(criteria) ? undefined : search({ ...nothingHeld, patientId: criteria.patientId }),
  ]);
  const { rows, next } = ahead ?? (await search(subject));
  const seal = (option: Option) => tokens.seal(option, call.principal);
  const overdueFromMs = dueOn === undefined ? Number.POSITIVE_INFINITY : Date.parse(endOfLocalDay(dueOn));
  const options = rows.map((row) => toOption(row, criteria, overdueFromMs, seal));
  return { options, ...(dueOn === undefined ? {} : { dueOn }), ...next };
}

/** Whether the appointment or type must be read before the slots. If not, one round trip reads slots and patient. */
function dependsOnSubject({ appointmentId, appointmentTypeId }: OptionCriteria): boolean {
  return appointmentId !== undefined || appointmentTypeId !== undefined;
}

const nothingHeld = { appointmentId: undefined, heldDay: undefined, minutes: undefined, visitMinutes: undefined };

/** The query fields for the patient or the appointment to move. The search omits times when the patient is busy. */
type SlotSubject = Pick<OptionQuery, "patientId" | "appointmentId" | "heldDay" | "minutes" | "visitMinutes">;

interface AskedPage {
  readonly page: Page;
  /** The name of the list. Page tokens are bound to it and to `filters`. */
  readonly name: string;
  readonly filters: readonly unknown[];
}

/** Returns one page of the slots that can be booked, earliest first. */
export async function pageOfSlots(
  criteria: SlotCriteria,
  { patientId, appointmentId, heldDay, minutes, visitMinutes }: SlotSubject,
  { page, name, filters }: AskedPage,
  call: ReadyCall,
  nowMs: number,
) {
  const found = await searchOptions(call.transaction, call.principal, {
    patientId,
    appointmentId,
    heldDay,
    serviceId: criteria.serviceId,
    minutes,
    visitMinutes,
    from: new Date(Math.max(Date.parse(startOfLocalDay(criteria.dateFrom)), nowMs + 1)),
    to: new Date(endOfLocalDay(earlierDate(criteria.dateTo, widestSpan(nowMs).through))),
    windows: criteria.periods.flatMap(windowsOf),
    locationId: criteria.locationId,
    practitionerId: criteria.practitionerId,
    includeEmergency: criteria.includeEmergency,
    now: new Date(nowMs),
    after: startAfter(page),
    limit: page.size + 1,
  });
  return cutPage(found, page, ({ startsAt, slotId }) => [startsAt.toISOString(), slotId], name, filters);
}

/** Reads the patient or the appointment of a search, and the due date. Throws the errors of {@link findOptions}. */
async function requireSubject(
  criteria: OptionCriteria,
  call: ReadyCall,
  nowMs: number,
): Promise<SlotSubject & { readonly dueOn: string | undefined }> {
  const { patientId = "", appointmentId, subjectField: field } = criteria;
  if (appointmentId !== undefined) return requireMovableSubject(appointmentId, criteria, call, nowMs);
  const { appointmentTypeId } = criteria;
  const [patient, type, dueOn] = await Promise.all([
    findPatient(call.transaction, patientId),
    appointmentTypeId && findResource(call.transaction, call.principal, appointmentTypes, appointmentTypeId),
    dueDateOf(criteria, call, nowMs),
  ]);
  if (patient === undefined) throw unknown(field);
  requireActive(patient, field);
  if (appointmentTypeId !== undefined && !type) throw unknown("appointmentTypeId");
  if (type && !type.active) throw validationFailed([inactive("appointmentTypeId")]);
  const length = type ? withBuffer(type.durationMinutes, type.bufferMinutes) : {};
  return { ...nothingHeld, patientId: patient.id, ...length, dueOn };
}

async function requireMovableSubject(
  appointmentId: string,
  { serviceId, subjectField: field }: OptionCriteria,
  { transaction }: ReadyCall,
  nowMs: number,
): Promise<SlotSubject & { readonly dueOn: string | undefined }> {
  const [appointment, patient, held] = await Promise.all([
    findAppointment(transaction, appointmentId),
    findPatientOf(transaction, appointmentId),
    findOccupiedSlots(transaction, appointmentId),
  ]);
  if (appointment === undefined || patient === undefined) throw unknown(field);
  requireMovable(appointment, patient, field, nowMs);
  if (appointment.serviceId !== serviceId) {
    const message = "the appointment is for another service: search with the service of the appointment";
    throw validationFailed([{ code: "INVALID_VALUE", field: "serviceId", message }]);
  }
  const { dueOn } = appointment;
  return {
    patientId: patient.id,
    appointmentId,
    heldDay: countedDay(appointment),
    ...lengthHeld(appointment, held),
    dueOn,
  };
}

/**
 * Returns the due date of the waitlist entry. Without an entry, returns the due date of a request made today: for
 * the appointment type, or for the service if there is no type. Returns undefined if there is no due date.
 */
async function dueDateOf(criteria: OptionCriteria, call: ReadyCall, nowMs: number): Promise<string | undefined> {
  const { serviceId, appointmentTypeId, subjectField, dueOn } = criteria;
  if (subjectField === "waitlistEntryId") return dueOn;
  const subject = appointmentTypeId === undefined ? { serviceId } : { appointmentTypeId };
  return findDueDate(call.transaction, subject, localDateAt(nowMs));
}

function toOption(
  { slotId, generation, programId, locationId, emergency, practitionerId, startsAt, endsAt, visitEndsAt }: OptionRecord,
  { appointmentId, patientId = "", serviceId }: OptionCriteria,
  overdueFromMs: number,
  seal: (option: Option) => SealedOption,
): AppointmentOption {
  const kind = appointmentId === undefined ? "PATIENT" : "APPOINTMENT";
  const subject = { kind, id: appointmentId ?? patientId } as const;
  const startsAtMs = startsAt.getTime();
  const minutesUntil = (end: Date) => (end.getTime() - startsAtMs) / 60_000;
  const visitMinutes = appointmentId === undefined && visitEndsAt < endsAt ? minutesUntil(visitEndsAt) : undefined;
  const length = { minutes: minutesUntil(endsAt), visitMinutes };
  const sealed = seal({ slotId, generation, serviceId, locationId, emergency, subject, ...length, startsAtMs });
  return create(AppointmentOptionSchema, {
    optionToken: sealed.token,
    expiresAt: timestampFromMs(sealed.expiresAtMs),
    startsAt: timestampFromMs(startsAtMs),
    endsAt: timestampFromDate(visitEndsAt),
    programId,
    locationId,
    practitionerId,
    overdue: startsAtMs >= overdueFromMs,
  });
}

function windowsOf(period: WaitlistEntryDetails_Period) {
  return dayPeriods[nameIn(WaitlistEntryDetails_Period, period)];
}

function unknown(field: string) {
  return unknownReferences([missing(field)]);
}
