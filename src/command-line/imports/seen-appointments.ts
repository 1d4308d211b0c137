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
   * Returns the errors with which an import would reject the appointment because of the appointments that were already
   * added. There is one error if its patient is busy. There is one error if its practitioner is busy, and the
   * appointment is PENDING or CONFIRMED, in the future and without an overbooking reason. CANCELLED and NO_SHOW cause
   * no errors.
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
