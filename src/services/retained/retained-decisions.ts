import type { RetainedAppointmentChoiceValid } from "../../gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import type { LockedTogether } from "../../postgres/tables/locks.js";
import type { SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { type Refusal, refusalOf } from "./retained-refusals.js";

/** What can be decided about one of several appointments: something, or nothing, with the reason. */
export type Decision =
  | { readonly appointment: AppointmentRecord; readonly held: readonly SlotRecord[] }
  | { readonly appointmentId: string; readonly refusal: Refusal };

/** Judges each choice by itself, in their order, by what was locked for all of them. */
export function decideAbout(
  choices: readonly RetainedAppointmentChoiceValid[],
  { appointments, patients, slots }: LockedTogether,
  nowMs: number,
): readonly Decision[] {
  return choices.map(({ appointmentId: sent, expectedVersion }) => {
    const appointmentId = sent.toLowerCase();
    const appointment = appointments.get(appointmentId);
    const held = slots.filter((slot) => slot.appointmentId === appointmentId);
    const patient = appointment && patients.get(appointment.patientId);
    const refusal = refusalOf({ appointment, held, patient }, expectedVersion, nowMs);
    if (refusal !== undefined) return { appointmentId, refusal };
    if (appointment === undefined) throw new Error("nothing was refused, and nothing is there");
    return { appointment, held };
  });
}
