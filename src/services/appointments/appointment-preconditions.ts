import { conflict, type FieldError } from "../../errors.js";
import { isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

/**
 * Requires that an appointment can be rescheduled. Throws 409 on `field` in these cases:
 * - its status is neither PENDING nor CONFIRMED
 * - it has started
 * - its patient is not active
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

/** Requires that a patient is active. Otherwise throws 409 on `field`. */
export function requireActive(patient: PatientRecord | undefined, field: string): void {
  const [error] = inactivePatient(patient, field);
  if (error !== undefined) throw conflict(error);
}

/** Returns a conflict on `field` if a patient is not active. */
export function inactivePatient(patient: PatientRecord | undefined, field: string): FieldError[] {
  if (patient?.status === "ACTIVE") return [];
  return [{ code: "PATIENT_NOT_ACTIVE", field, message: "the patient is not ACTIVE" }];
}
