import type { ContextValues } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import { callOf, principalOf, transactionOf } from "../call.js";
import { conflict, type FieldError, notFound, validationFailed } from "../errors.js";
import type { BookAppointmentRequestValid } from "../gen/cupo/clinic/v1/scheduling_service_pb.js";
import type { OpenedToken } from "../option-tokens/option-tokens.js";
import { type AppointmentRecord, sendAppointmentChange, sendAppointmentInsert } from "../postgres/appointments.js";
import { appointmentTypes, consultationTypes, requestSources } from "../postgres/catalogs.js";
import { lockPatient } from "../postgres/patients.js";
import { findResource, type ResourceTable } from "../postgres/resources.js";
import { sharePrograms } from "../postgres/schedule.js";
import { findSlot, sendOccupation } from "../postgres/slots.js";
import { requireOption, takeSlot } from "./take-slot.js";

/** Books the slot of an option for the patient it was given for: one transaction, all or nothing. */
export async function bookAppointment(
  request: BookAppointmentRequestValid,
  opened: OpenedToken,
  values: ContextValues,
  nowMs: number,
): Promise<AppointmentRecord> {
  const transaction = transactionOf(values);
  const { patientId } = request;
  const target = opened.kind === "OPTION" ? await findSlot(transaction, opened.option.slotId) : undefined;
  const [locationIds, patient, references] = await Promise.all([
    sharePrograms(transaction, target === undefined ? [] : [target.programId]),
    lockPatient(transaction, patientId),
    judgeReferences(request, values),
  ]);
  if (patient === undefined) references.missing.unshift(missing("patientId"));
  if (references.missing.length > 0)
    throw notFound("A resource that the request refers to does not exist; see errors.", references.missing);
  if (patient?.status !== "ACTIVE") {
    throw conflict({ code: "PATIENT_NOT_ACTIVE", field: "patientId", message: "the patient is not active" });
  }
  if (references.inactive.length > 0) throw validationFailed(references.inactive);
  const option = requireOption(opened, ({ subject }) => subject.kind === "PATIENT" && subject.id === patientId);
  const slot = await takeSlot(values, option, { patientId, appointmentId: undefined, held: undefined }, nowMs);
  const { programId, ruleId, practitionerId, localDate, startsAt, endsAt } = slot;
  const at = new Date(nowMs);
  const appointment: AppointmentRecord = {
    ...{ id: uuidv7(), patientId, serviceId: option.serviceId, status: "PENDING", version: 1 },
    ...{ programId, ruleId, practitionerId, localDate, startsAt, endsAt },
    locationId: locationIds.get(programId) ?? "",
    requestSourceId: request.requestSourceId,
    appointmentTypeId: request.appointmentTypeId,
    consultationTypeId: request.consultationTypeId,
    cancellationReasonId: undefined,
    noShowReasonId: undefined,
    comment: undefined,
    createdAt: at,
    updatedAt: at,
  };
  sendAppointmentInsert(transaction, appointment);
  sendOccupation(transaction, slot.id, appointment.id);
  sendAppointmentChange(transaction, undefined, appointment, principalOf(values), callOf(values));
  callOf(values).effects.push({
    resourceType: "Appointment",
    resourceId: appointment.id,
    action: "CREATE",
    version: 1,
  });
  return appointment;
}

async function judgeReferences(request: BookAppointmentRequestValid, values: ContextValues) {
  const references = [
    ["requestSourceId", requestSources, request.requestSourceId],
    ["appointmentTypeId", appointmentTypes, request.appointmentTypeId],
    ["consultationTypeId", consultationTypes, request.consultationTypeId],
  ] as const;
  const judged = await Promise.all(
    references.map(async ([field, table, id]) => ({ field, isActive: await isActive(values, table, id) })),
  );
  return {
    missing: judged.filter((each) => each.isActive === undefined).map(({ field }) => missing(field)),
    inactive: judged.filter((each) => each.isActive === false).map(({ field }) => inactive(field)),
  };
}

async function isActive(
  values: ContextValues,
  table: ResourceTable<{ active: boolean }>,
  id: string | undefined,
): Promise<boolean | undefined> {
  if (id === undefined) return true;
  return (await findResource(transactionOf(values), principalOf(values), table, id))?.active;
}

function missing(field: string): FieldError {
  return { code: "NOT_FOUND", field, message: "no such resource exists" };
}

function inactive(field: string): FieldError {
  return { code: "INVALID_VALUE", field, message: "the resource is not active" };
}
