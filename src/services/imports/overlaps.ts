import type { FieldError } from "../../errors.js";
import type { ImportedAppointmentValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { ImportedTime } from "./appointment-times.js";
import { targetOf } from "./row-references.js";

/** A start and an end, in milliseconds since the epoch. */
export type Span = Pick<ImportedTime, "startMs" | "endMs">;

/** The appointment times of each person. Call `add` for each accepted appointment, so that `overlaps` considers it. */
export class Diary {
  readonly #times = new Map<string, Span[]>();

  overlaps(personId: string, { startMs, endMs }: Span): boolean {
    return (this.#times.get(personId) ?? []).some((time) => time.startMs < endMs && startMs < time.endMs);
  }

  add(personId: string, time: Span): void {
    const known = this.#times.get(personId);
    if (known === undefined) this.#times.set(personId, [time]);
    else known.push(time);
  }
}

/**
 * Returns the errors of an appointment: one if its patient is busy, and one if `isRefused` is true. `isRefused` means
 * that the practitioner is busy and the row has no overbooking reason.
 */
export function overlapErrors(
  { patient, practitioner }: Pick<ImportedAppointmentValid, "patient" | "practitioner">,
  isPatientBusy: boolean,
  isRefused: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (isPatientBusy) {
    const message = "the patient has another appointment or a hold at that time";
    errors.push({ code: "PATIENT_OVERLAP", field: targetOf("appointment.patient", patient), message });
  }
  if (isRefused) {
    const message =
      "the practitioner has another appointment or a hold at that time: send overbookingReason if this is right";
    errors.push({ code: "SLOT_OCCUPIED", field: targetOf("appointment.practitioner", practitioner), message });
  }
  return errors;
}
