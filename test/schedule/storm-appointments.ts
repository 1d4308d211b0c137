import type { RestAnswer } from "../support/rest-request.js";
import type { AppointmentBody } from "./clinic.js";
import type { Storm } from "./storm-terms.js";

/** The appointments that are about, by id, as they were when somebody last saw them. */
export type Appointments = Map<string, KnownAppointment>;

/** What a caller knows of an appointment. */
export type KnownAppointment = Pick<AppointmentBody, "appointmentId" | "version" | "status" | "startsAt">;

/** Keeps what became of an appointment; after a refusal, or without an answer, what it is now. */
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

/** Keeps the appointment of an answer, or forgets one that is called off. `name` is what the answer lacks. */
export function keep(appointments: Appointments, { status, body }: RestAnswer, name = {}): void {
  if (status !== 200) return;
  const appointment: KnownAppointment = { ...(body["appointment"] as KnownAppointment), ...name };
  if (appointment.status === "CANCELLED") appointments.delete(appointment.appointmentId);
  else appointments.set(appointment.appointmentId, appointment);
}

/** What a change of an appointment names. */
export function nameOf({ appointmentId, version }: KnownAppointment): {
  appointmentId: string;
  expectedVersion: number;
} {
  return { appointmentId, expectedVersion: version };
}
