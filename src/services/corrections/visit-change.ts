import type { ReadyCall } from "../../call.js";
import { conflict, unknownReferences, validationFailed } from "../../errors.js";
import { AppointmentDetails_Modality } from "../../gen/cupo/clinic/v1/appointment_details_pb.js";
import type { ChangeAppointmentRequestValid } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { isUnfinished } from "../../postgres/tables/appointments/appointment-status.js";
import {
  type AppointmentRecord,
  findAppointment,
  updateAppointment,
} from "../../postgres/tables/appointments/appointments.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { findProgramOffer } from "../../postgres/tables/appointments/offers.js";
import { findBufferOf } from "../../postgres/tables/catalogs/buffers.js";
import { appointmentTypes } from "../../postgres/tables/catalogs/catalogs.js";
import { healthcareServices } from "../../postgres/tables/catalogs/reference-data.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { displacementOf, findOccupiedSlots } from "../../postgres/tables/schedule/slots.js";
import type { ChangedAppointment } from "../appointments/appointment-transitions.js";
import { withBuffer } from "../appointments/booking-references.js";
import { requireOffered } from "../appointments/booking-target.js";
import { nameIn } from "../resources/enum-names.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { correctedDueDate } from "./corrected-due-date.js";
import { changeDuration, lockForDuration } from "./visit-duration.js";

/**
 * Changes the service, appointment type, duration, modality or join link of an unfinished appointment, and returns the
 * appointment. Its start and practitioner stay the same. What else changes:
 * - If the request has a service, `firstVisit` is determined again.
 * - If the request has a type, the due date and the buffer are determined again. If it has no duration, the duration
 *   becomes that of the type.
 * - A visit that is not by video loses its join link.
 *
 * Throws:
 * - 404 for an unknown appointment, service or type
 * - 409 for a stale version or a finished appointment
 * - 422 for a service or type that is not active, or a service that the program does not offer
 * - 422 for a join link of a visit that is not by video
 *
 * If the request has a duration or a type, also throws, even if the length stays the same:
 * - 409 if the slots of the appointment are no longer in the schedule
 * - 409 if the practitioner is not free until the requested end, or the patient is not free until the visit ends; an
 *   overbooked appointment needs only a free patient
 * - 422 if it needs more slots, and the slots of its date are not up to date
 * - 422 if the schedule has no adjacent slots up to the requested end
 * - 422 if an overbooked appointment would end on another day
 */
export async function changeVisit(
  request: ChangeAppointmentRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<ChangedAppointment> {
  const { transaction } = call;
  const { appointmentId, expectedVersion } = request;
  const [found, held, bufferMinutes, references] = await Promise.all([
    findAppointment(transaction, appointmentId),
    findOccupiedSlots(transaction, appointmentId),
    findBufferOf(transaction, appointmentId),
    judgeReferences(request, call),
  ]);
  const seen = requireFound(found, "appointmentId");
  if (references.missing.length > 0) throw unknownReferences(references.missing);
  requireVersion(seen, expectedVersion);
  const minutes = request.durationMinutes ?? references.minutes;
  const length = minutes === undefined ? undefined : withBuffer(minutes, references.bufferMinutes ?? bufferMinutes);
  const time = await lockForDuration(call, seen, held, length, nowMs);
  const appointment = requireFound(time.locked.appointment, "appointmentId");
  requireVersion(appointment, expectedVersion);
  requireUnfinished(appointment);
  if (references.inactive.length > 0) throw validationFailed(references.inactive);
  const changed: AppointmentRecord = {
    ...appointment,
    ...(await changesOfVisit(request, appointment, call)),
    ...(length !== undefined && changeDuration(call, appointment, time, length)),
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  updateAppointment(transaction, changed);
  insertAppointmentChange(transaction, appointment, changed, call.principal, call, { isOfVisit: true });
  const { id: resourceId, version } = changed;
  call.effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return { appointment: changed, displacement: displacementOf(await findOccupiedSlots(transaction, resourceId)) };
}

/**
 * Checks the service and the appointment type of a request. `missing` has an error for each one that does not exist,
 * and `inactive` for each one that is not active. Also returns the duration and the buffer of the type in minutes. Both
 * are undefined if the request has no type or the type does not exist.
 */
async function judgeReferences({ serviceId, appointmentTypeId }: ChangeAppointmentRequestValid, call: ReadyCall) {
  const { transaction, principal } = call;
  const [service, type] = await Promise.all([
    serviceId === undefined ? undefined : findResource(transaction, principal, healthcareServices, serviceId),
    appointmentTypeId === undefined
      ? undefined
      : findResource(transaction, principal, appointmentTypes, appointmentTypeId),
  ]);
  const given = [
    ["serviceId", serviceId, service],
    ["appointmentTypeId", appointmentTypeId, type],
  ] as const;
  return {
    missing: given.filter(([, id, found]) => id !== undefined && found === undefined).map(([field]) => missing(field)),
    inactive: given.filter(([, , found]) => found?.active === false).map(([field]) => inactive(field)),
    minutes: type?.durationMinutes,
    bufferMinutes: type?.bufferMinutes,
  };
}

function requireUnfinished({ status }: AppointmentRecord): void {
  if (isUnfinished(status)) return;
  const message = `the appointment is ${status}; only PENDING, CONFIRMED or CHECKED_IN can be changed`;
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "appointmentId", message });
}

/**
 * Returns the changed attributes of the visit, except its time. Throws 422 for a service that the program does not
 * offer, and for a join link of a visit that is not by video.
 */
async function changesOfVisit(
  request: ChangeAppointmentRequestValid,
  appointment: AppointmentRecord,
  call: ReadyCall,
): Promise<Partial<AppointmentRecord>> {
  const { serviceId, appointmentTypeId } = request;
  return {
    ...modalityAfter(request, appointment),
    ...(serviceId !== undefined && {
      serviceId,
      firstVisit: await firstVisitOf(serviceId, appointment, call),
    }),
    ...(appointmentTypeId !== undefined && {
      appointmentTypeId,
      dueOn: await correctedDueDate(call.transaction, { ...appointment, appointmentTypeId }),
    }),
  };
}

/**
 * Returns whether the appointment is the patient's first for the service in the calendar year of the visit. Throws
 * 422 if the program does not offer the service.
 */
async function firstVisitOf(serviceId: string, appointment: AppointmentRecord, call: ReadyCall): Promise<boolean> {
  const { transaction, principal } = call;
  const { id, patientId, programId } = appointment;
  const [offer, firstVisit] = await Promise.all([
    findProgramOffer(transaction, principal, { programId, serviceId }),
    isFirstVisit(transaction, { patientId, serviceId, on: appointment }, [id]),
  ]);
  requireOffered({ offer, isMember: true }, true);
  return firstVisit;
}

function modalityAfter(
  request: ChangeAppointmentRequestValid,
  appointment: AppointmentRecord,
): Pick<AppointmentRecord, "modality" | "joinLink"> {
  const modality =
    request.modality === undefined ? appointment.modality : nameIn(AppointmentDetails_Modality, request.modality);
  if (modality === "VIDEO") return { modality, joinLink: request.joinLink ?? appointment.joinLink };
  if (request.joinLink === undefined) return { modality, joinLink: undefined };
  const message = "only a visit with the modality VIDEO has a link";
  throw validationFailed([{ code: "INVALID_VALUE", field: "joinLink", message }]);
}
