import type { ImportedAppointmentValid, ImportReference } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { isLive } from "../../postgres/tables/appointments/appointment-status.js";
import { readTime } from "../../services/imports/appointment-times.js";
import { Diary, overlapErrors } from "../../services/imports/overlaps.js";
import type { RowError } from "./source-rows.js";

/** Returns a name of the resource that a reference of this kind means, the same for all its references. */
export type NameReference = (kind: "patient" | "practitioner", reference: ImportReference) => string;

/** The appointments of a dry run that would have been imported, and the times at which people are busy by them. */
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

  /** Returns the errors of an appointment that overlaps with earlier ones, as the service finds them in an import. */
  overlaps(appointment: ImportedAppointmentValid): readonly RowError[] {
    const { patient, practitioner, overbookingReason } = appointment;
    const time = readTime(appointment, this.now());
    const isPatientBusy = isLive(time.status) && this.#patients.overlaps(this.nameOf("patient", patient), time);
    const isPractitionerBusy =
      time.isAhead && this.#practitioners.overlaps(this.nameOf("practitioner", practitioner), time);
    return overlapErrors(appointment, isPatientBusy, isPractitionerBusy && overbookingReason === undefined);
  }
}
