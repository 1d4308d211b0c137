import { create } from "@bufbuild/protobuf";
import {
  type DisplacedAppointmentOutcome,
  DisplacedAppointmentOutcomeSchema,
  DisplacedAppointmentOutcome_Refusal as Refusal,
} from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";

export { Refusal };

/**
 * An appointment of a request, its slots and its patient. `appointment` or `patient` is undefined if it does not exist.
 * An erased patient is undefined too.
 */
export interface Decided {
  readonly appointment: AppointmentRecord | undefined;
  readonly held: readonly SlotRecord[];
  readonly patient: PatientRecord | undefined;
}

/**
 * Returns the reason why an appointment can be neither accepted nor moved as a displaced appointment, such as
 * NOT_DISPLACED. Returns undefined if there is no such reason.
 */
export function refusalOf(
  { appointment, held, patient }: Decided,
  expectedVersion: number | undefined,
  nowMs: number,
): Refusal | undefined {
  if (appointment === undefined) return Refusal.NOT_FOUND;
  if (appointment.version !== expectedVersion) return Refusal.STALE_VERSION;
  if (!held.some(({ retained }) => retained)) return Refusal.NOT_DISPLACED;
  if (!isMovable(appointment.status) || appointment.startsAt.getTime() <= nowMs) return Refusal.STATE_NOT_ALLOWED;
  return patient?.status === "ACTIVE" ? undefined : Refusal.PATIENT_NOT_ACTIVE;
}

/** Returns the outcome for an appointment that was not changed. */
export function refused(appointmentId: string, refusal: Refusal): DisplacedAppointmentOutcome {
  return create(DisplacedAppointmentOutcomeSchema, { appointmentId, refusal });
}
