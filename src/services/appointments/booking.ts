import type { ReadyCall } from "../../call.js";
import { type FieldError, notFound, validationFailed } from "../../errors.js";
import type { BookAppointmentRequestValid } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import type { OpenedToken } from "../../option-tokens/option-tokens.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { type AppointmentRecord, insertAppointment } from "../../postgres/tables/appointments/appointments.js";
import { findOffer } from "../../postgres/tables/appointments/offers.js";
import { appointmentTypes, consultationTypes, requestSources } from "../../postgres/tables/catalogs/catalogs.js";
import type { DeskWaitlistEntryRecord } from "../../postgres/tables/desk/waitlist.js";
import { lockInOrder } from "../../postgres/tables/locks.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { occupySlot } from "../../postgres/tables/schedule/slots.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { findDueDate } from "../resources/due-date.js";
import { requireActive } from "./appointment-preconditions.js";
import { closeServedEntry, requireServes, requireWaiting } from "./served-entry.js";
import { requireOption, type TakenSlot, takeSlot } from "./take-slot.js";

/** Books the slot of an option for the patient it was given for: one transaction, all or nothing. */
export async function bookAppointment(
  request: BookAppointmentRequestValid,
  opened: OpenedToken,
  call: ReadyCall,
  nowMs: number,
): Promise<AppointmentRecord> {
  const transaction = call.transaction;
  const { patientId, waitlistEntryId } = request;
  const usable = opened.kind === "OPTION" ? opened.option : undefined;
  const requestedOn = localDateAt(nowMs);
  const [locked, references, offer, dueOn] = await Promise.all([
    lockInOrder(transaction, { patient: { id: patientId }, waitlistEntryId, option: usable }),
    judgeReferences(request, call),
    usable && findOffer(transaction, call.principal, usable),
    findDueDate(transaction, request, requestedOn),
  ]);
  const entry = locked.waitlistEntry;
  const absent = waitlistEntryId !== undefined && entry === undefined ? [missing("waitlistEntryId")] : [];
  requireUsable(locked.patient, { ...references, missing: [...references.missing, ...absent] }, entry);
  const option = requireOption(opened, ({ subject }) => subject.kind === "PATIENT" && subject.id === patientId);
  const taker = { patientId, appointmentId: undefined };
  requireServes(entry, patientId, option.serviceId);
  const taken = await takeSlot(call, option, { locked, offer }, taker, nowMs);
  const appointment = newAppointment(
    call.newId(),
    request,
    option.serviceId,
    { ...taken, requestedOn, dueOn },
    new Date(nowMs),
  );
  keepBooking(call, appointment, taken.slot.id);
  if (entry !== undefined) closeServedEntry(call, entry, appointment);
  return appointment;
}

function keepBooking(call: ReadyCall, appointment: AppointmentRecord, slotId: string): void {
  const { transaction } = call;
  insertAppointment(transaction, appointment);
  occupySlot(transaction, slotId, appointment.id);
  insertAppointmentChange(transaction, undefined, appointment, call.principal, call);
  call.effects.push({
    resourceType: "Appointment",
    resourceId: appointment.id,
    action: "CREATE",
    version: 1,
  });
}

function newAppointment(
  id: string,
  { patientId, requestSourceId, appointmentTypeId, consultationTypeId }: BookAppointmentRequestValid,
  serviceId: string,
  { slot, locationId, requestedOn, dueOn }: TakenSlot & Pick<AppointmentRecord, "requestedOn" | "dueOn">,
  at: Date,
): AppointmentRecord {
  const { programId, ruleId, practitionerId, localDate, startsAt, endsAt } = slot;
  return {
    id,
    patientId,
    serviceId,
    programId,
    ruleId,
    practitionerId,
    locationId,
    localDate,
    startsAt,
    endsAt,
    status: "PENDING",
    version: 1,
    requestSourceId,
    appointmentTypeId,
    consultationTypeId,
    cancellationReasonId: undefined,
    noShowReasonId: undefined,
    comment: undefined,
    requestedOn,
    dueOn,
    createdAt: at,
    updatedAt: at,
  };
}

/** What is wrong with the references of a request. */
interface JudgedReferences {
  readonly missing: readonly FieldError[];
  readonly inactive: readonly FieldError[];
}

/** 404 for what does not exist, then 409 for a patient who is not active or no longer waits, then 422 for what else is not. */
function requireUsable(
  patient: PatientRecord | undefined,
  { missing: unknown, inactive: unusable }: JudgedReferences,
  entry: DeskWaitlistEntryRecord | undefined,
): void {
  const absent = patient === undefined ? [missing("patientId"), ...unknown] : unknown;
  if (absent.length > 0) throw notFound("A resource that the request refers to does not exist; see errors.", absent);
  requireActive(patient, "patientId");
  requireWaiting(entry);
  if (unusable.length > 0) throw validationFailed(unusable);
}

async function judgeReferences(request: BookAppointmentRequestValid, call: ReadyCall): Promise<JudgedReferences> {
  const references = [
    ["requestSourceId", requestSources, request.requestSourceId],
    ["appointmentTypeId", appointmentTypes, request.appointmentTypeId],
    ["consultationTypeId", consultationTypes, request.consultationTypeId],
  ] as const;
  const judged = await Promise.all(
    references.map(async ([field, table, id]) => ({ field, isActive: await isActive(call, table, id) })),
  );
  return {
    missing: judged.filter((each) => each.isActive === undefined).map(({ field }) => missing(field)),
    inactive: judged.filter((each) => each.isActive === false).map(({ field }) => inactive(field)),
  };
}

async function isActive(
  call: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string | undefined,
): Promise<boolean | undefined> {
  if (id === undefined) return true;
  return (await findResource(call.transaction, call.principal, table, id))?.active;
}

function missing(field: string): FieldError {
  return { code: "NOT_FOUND", field, message: "no such resource exists" };
}

function inactive(field: string): FieldError {
  return { code: "INVALID_VALUE", field, message: "the resource is not active" };
}
