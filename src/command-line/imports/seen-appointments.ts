import type { ImportedAppointmentValid, ImportReference } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { isLive } from "../../postgres/tables/appointments/appointment-status.js";
import { readTime } from "../../services/imports/appointment-times.js";
import { Diary, overlapErrors } from "../../services/imports/overlaps.js";
import type { RowError } from "./source-rows.js";

/** Returns a key for the resource that `reference` refers to. All references to one resource have the same key. */
export type NameReference = (kind: "patient" | "practitioner", reference: ImportReference) => string;

/** The appointments that a dry run would have imported, and the times at which patients and practitioners are busy. */
export class SeenAppointments {
  readonly #patients = new Diary();
  readonly #practitioners = new Diary();

  /** `now` returns milliseconds since the epoch. */
  constructor(
    private readonly nameOf: NameReference,
    private readonly now: () => number,
  ) {}

  add(appointment: ImportedAppointmentValid): void {
    const time = readTime(appointment, this.now());
    if (isLive(time.status)) this.#patients.add(this.nameOf("patient", appointment.patient), time);
    if (time.isAhead) this.#practitioners.add(this.nameOf("practitioner", appointment.practitioner), time);
  }

  /**
   * Compares an appointment with the appointments that were added before. Returns an error for each of these cases:
   * - Its patient is busy at that time. This is not checked for a CANCELLED or NO_SHOW appointment.
   * - Its practitioner is busy at that time. This is checked only for a PENDING or CONFIRMED appointment that is in the
   *   future and has no overbooking reason.
   */
  overlaps(appointment: ImportedAppointmentValid): readonly RowError[] {
    const { patient, practitioner, overbookingReason } = appointment;
    const time = readTime(appointment, this.now());
    const isPatientBusy = isLive(time.status) && this.#patients.overlaps(this.nameOf("patient", patient), time);
    const isPractitionerBusy =
      time.isAhead && this.#practitioners.overlaps(this.nameOf("practitioner", practitioner), time);
    return overlapErrors(appointment, isPatientBusy, isPractitionerBusy && overbookingReason === undefined);
  }
}
