import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { notFound, validationFailed } from "../../errors.js";
import { type AppointmentOption, AppointmentOptionSchema } from "../../gen/cupo/clinic/v1/appointment_option_pb.js";
import { WaitlistEntryDetails_Period } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { type AppointmentRecord, findAppointment } from "../../postgres/tables/appointments/appointments.js";
import { countedDay } from "../../postgres/tables/appointments/day-counters.js";
import type { OptionQuery } from "../../postgres/tables/appointments/free-slots.js";
import { type OptionRecord, searchOptions } from "../../postgres/tables/appointments/option-search.js";
import { appointmentTypes } from "../../postgres/tables/catalogs/catalogs.js";
import { findPatientOf } from "../../postgres/tables/patients/patient-locks.js";
import { findPatient } from "../../postgres/tables/patients/patients.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { findOccupiedSlots, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { dayPeriods } from "../../scheduling/day-periods.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import { endOfLocalDay, localDateAt, startOfLocalDay } from "../../scheduling/local-clock.js";
import { secondsPerDay } from "../../scheduling/local-time.js";
import { findDueDate } from "../resources/due-date.js";
import { nameIn } from "../resources/enum-names.js";
import { startAfter } from "../resources/page-keys.js";
import { cutPage, type Page, type PageRequest, readPage } from "../resources/pages.js";
import { requireActive, requireMovable } from "./appointment-preconditions.js";
import { inactive, missing } from "./booking-references.js";

/** What slots are looked for. */
export interface SlotWish {
  readonly serviceId: string;
  /** Local dates, YYYY-MM-DD, both inclusive. */
  readonly dateFrom: string;
  readonly dateTo: string;
  readonly periods: readonly WaitlistEntryDetails_Period[];
  readonly locationId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly includeEmergency: boolean;
}

/** What options are looked for. */
export interface OptionWish extends SlotWish {
  readonly patientId: string | undefined;
  /** The appointment to move, in place of a patient to book for. */
  readonly appointmentId: string | undefined;
  /** The last local date of a waitlist entry's wait; the others' begins with the search, or is the appointment's. */
  readonly dueOn: string | undefined;
  /** The type of the appointment to book: options last as long as it takes; undefined for one slot, however long. */
  readonly appointmentTypeId: string | undefined;
  /** The field of the request that says for whom: what is said to be wrong with a patient or appointment is said of it. */
  readonly subjectField: "patientId" | "appointmentId" | "waitlistEntryId";
}

const WHOLE_DAY = [{ startSecond: 0, endSecond: secondsPerDay }];

/** One page of the options that can be booked, soonest first, each with its token. Nothing is reserved or written. */
export async function findOptions(
  wish: OptionWish,
  request: PageRequest,
  call: ReadyCall,
  tokens: OptionTokens,
  nowMs: number,
): Promise<{ options: AppointmentOption[]; dueOn?: string; nextPageToken?: string }> {
  const filters = Object.values(wish);
  const page = readPage(request, "options", filters);
  const list = { page, name: "options", filters };
  const search = (subject: SlotSubject) => pageOfSlots(wish, subject, list, call, nowMs);
  const [{ dueOn, ...subject }, ahead] = await Promise.all([
    requireSubject(wish, call, nowMs),
    hangsOnSubject(wish) ? undefined : search({ ...nothingHeld, patientId: wish.patientId }),
  ]);
  const { rows, next } = ahead ?? (await search(subject));
  const options = await Promise.all(rows.map((row) => toOption(row, { ...wish, dueOn }, call, tokens)));
  return { options, ...(dueOn === undefined ? {} : { dueOn }), ...next };
}

/** Whether what is known of an appointment, or its type, says what slots will do; else they are looked for meanwhile. */
function hangsOnSubject({ appointmentId, appointmentTypeId }: OptionWish): boolean {
  return appointmentId !== undefined || appointmentTypeId !== undefined;
}

const nothingHeld = { appointmentId: undefined, heldDay: undefined, minutes: undefined };

/** Whose appointments slots must not be in the way of; nobody's for whom nothing is looked for. */
type SlotSubject = Pick<OptionQuery, "patientId" | "appointmentId" | "heldDay" | "minutes">;

/** The page of a list that is asked for. */
interface AskedPage {
  readonly page: Page;
  /** The name of the list, and what its pages are bound to. */
  readonly name: string;
  readonly filters: readonly unknown[];
}

/** One page of the slots that can be booked, soonest first. */
export async function pageOfSlots(
  wish: SlotWish,
  { patientId, appointmentId, heldDay, minutes }: SlotSubject,
  { page, name, filters }: AskedPage,
  call: ReadyCall,
  nowMs: number,
) {
  const found = await searchOptions(call.transaction, call.principal, {
    patientId,
    appointmentId,
    heldDay,
    serviceId: wish.serviceId,
    minutes,
    from: new Date(Math.max(Date.parse(startOfLocalDay(wish.dateFrom)), nowMs + 1)),
    to: new Date(Math.min(Date.parse(endOfLocalDay(wish.dateTo)), endOfScheduleMs(nowMs))),
    windows: wish.periods.length === 0 ? WHOLE_DAY : wish.periods.flatMap(windowsOf),
    locationId: wish.locationId,
    practitionerId: wish.practitionerId,
    includeEmergency: wish.includeEmergency,
    after: startAfter(page),
    limit: page.size + 1,
  });
  return cutPage(found, page, ({ startsAt, slotId }) => [startsAt.toISOString(), slotId], name, filters);
}

/** No schedule is made further. */
function endOfScheduleMs(nowMs: number): number {
  return Date.parse(endOfLocalDay(horizonFrom(nowMs).through));
}

/**
 * Whom the options are for: 404 for one that does not exist, 409 for one that cannot be booked or moved; then 404 for a type of
 * appointment that does not exist, and 422 for one that is not active.
 */
async function requireSubject(
  wish: OptionWish,
  call: ReadyCall,
  nowMs: number,
): Promise<SlotSubject & { readonly dueOn: string | undefined }> {
  const { appointmentId, subjectField: field } = wish;
  if (appointmentId !== undefined) return requireMovableSubject(appointmentId, wish, call, nowMs);
  const { appointmentTypeId } = wish;
  const [patient, type, dueOn] = await Promise.all([
    findPatient(call.transaction, wish.patientId ?? ""),
    appointmentTypeId && findResource(call.transaction, call.principal, appointmentTypes, appointmentTypeId),
    dueDateOf(wish, call, nowMs),
  ]);
  if (patient === undefined) throw unknown(field);
  requireActive(patient, field);
  if (appointmentTypeId !== undefined && !type) throw unknown("appointmentTypeId");
  if (type && !type.active) throw validationFailed([inactive("appointmentTypeId")]);
  return { ...nothingHeld, patientId: patient.id, minutes: type ? type.durationMinutes : undefined, dueOn };
}

async function requireMovableSubject(
  appointmentId: string,
  { serviceId, subjectField: field }: OptionWish,
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
    const message = "the appointment is for another service";
    throw validationFailed([{ code: "INVALID_VALUE", field: "serviceId", message }]);
  }
  const { dueOn } = appointment;
  const minutes = minutesHeld(appointment, held);
  return { patientId: patient.id, appointmentId, heldDay: countedDay(appointment), minutes, dueOn };
}

/** When the wait of somebody new ends: of who waits already, as the entry says; else by the type, or by the service. */
async function dueDateOf(wish: OptionWish, call: ReadyCall, nowMs: number): Promise<string | undefined> {
  const { serviceId, appointmentTypeId, subjectField, dueOn } = wish;
  if (subjectField === "waitlistEntryId") return dueOn;
  const holder = appointmentTypeId === undefined ? { serviceId } : { appointmentTypeId };
  return findDueDate(call.transaction, holder, localDateAt(nowMs));
}

/** As long as the appointment is now, where it has more than one slot or one of its own; else any one slot will do. */
function minutesHeld({ overbooked, startsAt, endsAt }: AppointmentRecord, { length }: readonly SlotRecord[]) {
  return length > 1 || overbooked ? minutesBetween(startsAt, endsAt) : undefined;
}

function minutesBetween(startsAt: Date, endsAt: Date): number {
  return (endsAt.getTime() - startsAt.getTime()) / 60_000;
}

async function toOption(
  { slotId, generation, programId, locationId, emergency, practitionerId, startsAt, endsAt }: OptionRecord,
  { appointmentId, patientId, serviceId, dueOn }: OptionWish,
  call: ReadyCall,
  tokens: OptionTokens,
): Promise<AppointmentOption> {
  const subject =
    appointmentId === undefined
      ? ({ kind: "PATIENT", id: patientId ?? "" } as const)
      : ({ kind: "APPOINTMENT", id: appointmentId } as const);
  const time = { minutes: minutesBetween(startsAt, endsAt), startsAtMs: startsAt.getTime() };
  const option = { slotId, generation, serviceId, locationId, emergency, subject, ...time };
  const sealed = await tokens.seal(option, call.principal);
  return create(AppointmentOptionSchema, {
    optionToken: sealed.token,
    expiresAt: timestampFromDate(new Date(sealed.expiresAtMs)),
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    programId,
    locationId,
    practitionerId,
    overdue: dueOn !== undefined && localDateAt(startsAt.getTime()) > dueOn,
  });
}

function windowsOf(period: WaitlistEntryDetails_Period) {
  return dayPeriods[nameIn(WaitlistEntryDetails_Period, period)];
}

function unknown(field: string) {
  return notFound("A resource that the request refers to does not exist; see errors.", [missing(field)]);
}
