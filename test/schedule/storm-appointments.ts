import type { RestAnswer } from "../support/rest-request.js";
import type { AppointmentBody } from "./clinic.js";
import type { Storm } from "./storm-context.js";

/** The live appointments by id, each as the last caller saw it. */
export type Appointments = Map<string, KnownAppointment>;

/** The members of an appointment that a caller of the storm knows. */
export type KnownAppointment = Pick<AppointmentBody, "appointmentId" | "version" | "status" | "startsAt">;

/** Stores an appointment after a change. After a rejection or a lost answer, reads it again. */
export async function follow(
  storm: Storm,
  appointments: Appointments,
  appointmentId: string,
  answer: RestAnswer,
): Promise<void> {
  keep(appointments, answer.status === 200 ? answer : await storm.send("GetAppointment", { appointmentId }), {
    appointmentId,
  });
}

/** Stores the appointment of an answer, or removes a cancelled one. `name` adds members that the answer lacks. */
export function keep(appointments: Appointments, { status, body }: RestAnswer, name = {}): void {
  if (status !== 200) return;
  const appointment: KnownAppointment = { ...(body["appointment"] as KnownAppointment), ...name };
  if (appointment.status === "CANCELLED") appointments.delete(appointment.appointmentId);
  else appointments.set(appointment.appointmentId, appointment);
}

/** Returns the members that identify an appointment in a change. */
export function nameOf({ appointmentId, version }: KnownAppointment): {
  appointmentId: string;
  expectedVersion: number;
} {
  return { appointmentId, expectedVersion: version };
}
