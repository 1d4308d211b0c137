import type { FieldError } from "../../errors.js";
import type { ImportedAppointmentValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { ImportedTime } from "./appointment-times.js";
import { targetOf } from "./row-references.js";

/** When something begins and ends, in milliseconds since the epoch. */
export type Span = Pick<ImportedTime, "startMs" | "endMs">;

/** The times at which people are busy by rows of an import. */
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

/** Returns the errors of an appointment whose patient is busy, or whose practitioner is and whose row is refused for it. */
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
