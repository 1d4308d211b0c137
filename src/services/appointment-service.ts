import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import { type CupoError, conflict, type FieldErrorCode } from "../errors.js";
import type {
  AppointmentService,
  RescheduleAppointmentRequestValid,
} from "../gen/cupo/access/v1/appointment_service_pb.js";
import type { OpenedToken, OptionTokens } from "../option-tokens/option-tokens.js";
import {
  type AppointmentRecord,
  findAppointment,
  lockAppointment,
  sendAppointmentChange,
  sendAppointmentUpdate,
} from "../postgres/appointments.js";
import { lockPatient } from "../postgres/patients.js";
import { sharePrograms } from "../postgres/schedule.js";
import { findOccupiedSlot, findSlot, type SlotRecord, sendOccupation, sendRelease } from "../postgres/slots.js";
import { toAppointment } from "./appointment-messages.js";
import { parseOpaqueId, requireFound, requireVersion } from "./preconditions.js";
import { requireOption, takeSlot } from "./take-slot.js";

/** Rescheduling of appointments (specification section 4.3). `now` gives milliseconds since the epoch. */
export function createAppointmentService(
  now: () => number,
  tokens: OptionTokens,
): ServiceImpl<typeof AppointmentService> {
  return {
    async rescheduleAppointment(message, { values }) {
      const request = message as RescheduleAppointmentRequestValid;
      const opened = await tokens.open(request.optionToken, principalOf(values).tenantId);
      return { appointment: toAppointment(await reschedule(request, opened, values, now())) };
    },
  };
}

/** What the transaction has locked to move an appointment, in the one order of locks. */
interface Locked {
  readonly appointment: AppointmentRecord;
  readonly isPatientActive: boolean;
  readonly held: SlotRecord | undefined;
  /** Where the programs that are concerned take place. */
  readonly locationIds: ReadonlyMap<string, string>;
}

async function reschedule(
  request: RescheduleAppointmentRequestValid,
  opened: OpenedToken,
  values: ContextValues,
  nowMs: number,
): Promise<AppointmentRecord> {
  const locked = await lockEverything(request, opened, values);
  const { appointment, held } = locked;
  requireVersion(appointment, request.expectedVersion);
  requireMovable(locked, opened, nowMs);
  const option = requireOption(
    opened,
    ({ subject, serviceId }) =>
      subject.kind === "APPOINTMENT" && subject.id === appointment.id && serviceId === appointment.serviceId,
  );
  const { patientId, id: appointmentId } = appointment;
  const slot = await takeSlot(values, option, { patientId, appointmentId, held }, nowMs);
  return move(locked, slot, values, nowMs);
}

/**
 * Finds which programs are concerned and locks them, then the patient and the appointment. The appointment may have been
 * moved in between: its slot is read again under the lock, and it is only freed if it is the one whose program is locked.
 */
async function lockEverything(
  request: RescheduleAppointmentRequestValid,
  opened: OpenedToken,
  values: ContextValues,
): Promise<Locked> {
  const transaction = transactionOf(values);
  const id = requireFound(parseOpaqueId(request.appointmentId));
  const [seen, target] = await Promise.all([
    findAppointment(transaction, id),
    opened.kind === "OPTION" ? findSlot(transaction, opened.option.slotId) : undefined,
  ]);
  const { programId, patientId } = requireFound(seen);
  const [locationIds, patient, appointment, held] = await Promise.all([
    sharePrograms(transaction, target === undefined ? [programId] : [programId, target.programId]),
    lockPatient(transaction, patientId),
    lockAppointment(transaction, id),
    findOccupiedSlot(transaction, id),
  ]);
  return { appointment: requireFound(appointment), isPatientActive: patient?.status === "ACTIVE", held, locationIds };
}

function requireMovable({ appointment, isPatientActive, held }: Locked, opened: OpenedToken, nowMs: number): void {
  const { status, startsAt } = appointment;
  if (status !== "PENDING" && status !== "CONFIRMED") {
    throw refused("STATE_NOT_ALLOWED", "appointmentId", "only a pending or confirmed appointment can be moved");
  }
  if (startsAt.getTime() <= nowMs) {
    throw refused("STATE_NOT_ALLOWED", "appointmentId", "an appointment that has begun cannot be moved");
  }
  if (!isPatientActive)
    throw refused("PATIENT_NOT_ACTIVE", "appointmentId", "the patient of the appointment is not active");
  if (opened.kind === "OPTION" && held?.id === opened.option.slotId) {
    throw refused("SAME_SLOT", "optionToken", "the appointment has this slot already");
  }
}

/** Puts the appointment into the slot that was taken for it and frees the one that it had. Id and status stay. */
function move(
  { appointment, held, locationIds }: Locked,
  slot: SlotRecord,
  values: ContextValues,
  nowMs: number,
): AppointmentRecord {
  const transaction = transactionOf(values);
  const { programId, ruleId, practitionerId, localDate, startsAt, endsAt } = slot;
  const moved: AppointmentRecord = {
    ...appointment,
    programId,
    ruleId,
    practitionerId,
    localDate,
    startsAt,
    endsAt,
    locationId: locationIds.get(programId) ?? appointment.locationId,
    version: appointment.version + 1,
    updatedAt: new Date(nowMs),
  };
  if (held !== undefined) sendRelease(transaction, held);
  sendOccupation(transaction, slot.id, moved.id);
  sendAppointmentUpdate(transaction, moved);
  sendAppointmentChange(transaction, appointment, moved, principalOf(values), callOf(values));
  const { id: resourceId, version } = moved;
  callOf(values).effects.push({ resourceType: "Appointment", resourceId, action: "UPDATE", version });
  return moved;
}

function refused(code: FieldErrorCode, field: string, message: string): CupoError {
  return conflict({ code, field, message });
}
