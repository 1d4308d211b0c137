import { conflict } from "../../errors.js";
import type { AppointmentStatus } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { PatientRecord } from "../../postgres/tables/patients/patients.js";

const MOVABLE: ReadonlySet<AppointmentStatus> = new Set(["PENDING", "CONFIRMED"]);

/**
 * Refuses to move an appointment, or to look for where it could be moved to, that is neither pending nor confirmed, that has
 * begun, or whose patient is not active: 409 on the field of the request that says which appointment.
 */
export function requireMovable(
  { status, startsAt }: AppointmentRecord,
  patient: PatientRecord | undefined,
  field: string,
  nowMs: number,
): void {
  if (!MOVABLE.has(status)) {
    const message = "only a pending or confirmed appointment can be moved";
    throw conflict({ code: "STATE_NOT_ALLOWED", field, message });
  }
  if (startsAt.getTime() <= nowMs) {
    throw conflict({ code: "STATE_NOT_ALLOWED", field, message: "an appointment that has begun cannot be moved" });
  }
  requireActive(patient, field);
}

/** Refuses to book or move for a patient who is not active: 409 on the field of the request that says for whom. */
export function requireActive(patient: PatientRecord | undefined, field: string): void {
  if (patient?.status === "ACTIVE") return;
  throw conflict({ code: "PATIENT_NOT_ACTIVE", field, message: "the patient is not active" });
}
