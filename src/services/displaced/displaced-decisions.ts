import type { DisplacedAppointmentChoiceValid } from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { LockedTogether } from "../../postgres/tables/locks-together.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { type Refusal, refusalOf } from "./displaced-refusals.js";

/**
 * The result of checking one appointment of a request. If the appointment can be accepted or moved as a displaced
 * appointment, the result has the appointment and its slots (`held`). Otherwise the result says why not (`refusal`).
 */
export type Decision =
  | { readonly appointment: AppointmentRecord; readonly held: readonly SlotRecord[] }
  | { readonly appointmentId: string; readonly refusal: Refusal };

/**
 * Checks for each choice whether its appointment is displaced and can be accepted or moved. Returns the results in the
 * order of the choices. The transaction must have locked the rows of {@link LockedTogether}.
 */
export function decideAbout(
  choices: readonly DisplacedAppointmentChoiceValid[],
  { appointments, patients, slots }: LockedTogether,
  nowMs: number,
): readonly Decision[] {
  return choices.map(({ appointmentId, expectedVersion }) => {
    const appointment = appointments.get(appointmentId);
    const held = slots.filter((slot) => slot.appointmentId === appointmentId);
    const patient = appointment && patients.get(appointment.patientId);
    const refusal = refusalOf({ appointment, held, patient }, expectedVersion, nowMs);
    if (refusal !== undefined) return { appointmentId, refusal };
    if (appointment === undefined) throw new Error("an appointment without a refusal must exist");
    return { appointment, held };
  });
}
