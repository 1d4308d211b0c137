import { create } from "@bufbuild/protobuf";
import {
  RetainedAppointmentOutcome_Refusal as Refusal,
  type RetainedAppointmentOutcome,
  RetainedAppointmentOutcomeSchema,
} from "../../gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

export { Refusal };

/** What is decided about: an appointment, the slots that it has, and its patient; undefined where there is none. */
export interface Decided {
  readonly appointment: AppointmentRecord | undefined;
  readonly held: readonly SlotRecord[];
  readonly patient: PatientRecord | undefined;
}

/** Why nothing can be decided about an appointment, be it what it may; undefined where something can. */
export function refusalOf(
  { appointment, held, patient }: Decided,
  expectedVersion: number | undefined,
  nowMs: number,
): Refusal | undefined {
  if (appointment === undefined) return Refusal.NOT_FOUND;
  if (appointment.version !== expectedVersion) return Refusal.STALE_VERSION;
  if (!held.some(({ retained }) => retained)) return Refusal.NOT_RETAINED;
  const isOpen = appointment.status === "PENDING" || appointment.status === "CONFIRMED";
  if (!isOpen || appointment.startsAt.getTime() <= nowMs) return Refusal.STATE_NOT_ALLOWED;
  return patient?.status === "ACTIVE" ? undefined : Refusal.PATIENT_NOT_ACTIVE;
}

/** The outcome for an appointment about which nothing was done. */
export function refused(appointmentId: string, refusal: Refusal): RetainedAppointmentOutcome {
  return create(RetainedAppointmentOutcomeSchema, { appointmentId, refusal });
}
