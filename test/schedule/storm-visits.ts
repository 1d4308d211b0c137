import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import { type Appointments, follow, type KnownAppointment, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-context.js";

const QUARTER_MS = 15 * 60_000;
/** A walk-in is booked at most this many quarters of an hour ahead. */
const QUARTERS = 4;

/**
 * Receives walk-ins one after the other until the storm is over, in turn now and in one of the next slots. Records each
 * visit and corrects every step, while other callers move, merge and cancel.
 */
export async function receive(storm: Storm, appointments: Appointments): Promise<void> {
  for (let turn = 0; !storm.isOver(); turn += 1) {
    const answer = await takeIn(storm, turn % 2 === 0);
    keep(appointments, answer);
    const visit = answer.body["appointment"] as KnownAppointment | undefined;
    if (visit !== undefined) await enterAll(storm, appointments, visit.appointmentId);
  }
}

/** Overbooks for the current minute, or books a slot within the next hour. */
function takeIn({ fixture, service, send }: Storm, isNow: boolean): Promise<RestAnswer> {
  const { requestSourceId, appointmentTypeId, serviceId, patientIds, practitionerIds, walkInProgramId } = fixture;
  const request = {
    patientId: `${pick(patientIds)}`,
    programId: walkInProgramId,
    practitionerId: `${pick(practitionerIds)}`,
    durationMinutes: 1,
    requestSourceId,
    appointmentTypeId,
    serviceId,
  };
  if (isNow) return send("OverbookAppointment", { ...request, reason: "Se siente mal." });
  const quarter = Math.floor(service.now() / QUARTER_MS) + 1 + randomInt(QUARTERS);
  return send("BookAppointmentAt", { ...request, startsAt: new Date(quarter * QUARTER_MS).toISOString() });
}

/** Takes the steps of a visit, corrects each one and cancels the appointment. Continues after a rejected step. */
async function enterAll(storm: Storm, appointments: Appointments, appointmentId: string): Promise<void> {
  const { noShowReasonId, cancellationReasonId } = storm.fixture;
  const back = (status: string) => ({ status, reason: "Se marcó a otra persona." });
  const steps: readonly (readonly [rpc: string, request: JsonObject])[] = [
    ["MarkAppointmentNoShow", { noShowReasonId }],
    ["CorrectAppointmentStatus", back("CONFIRMED")],
    ["ChangeAppointment", { durationMinutes: 20, modality: "PHONE" }],
    ["ChangeAppointment", { durationMinutes: 10 }],
    ["CheckInAppointment", {}],
    ["CorrectAppointmentStatus", back("CONFIRMED")],
    ["CheckInAppointment", {}],
    ["MarkAppointmentAttended", {}],
    ["CorrectAppointmentStatus", back("CHECKED_IN")],
    ["CancelAppointment", { cancellationReasonId }],
    ["CorrectAppointmentStatus", back("CHECKED_IN")],
    ["CancelAppointment", { cancellationReasonId }],
  ];
  for (const [rpc, request] of steps) {
    const visit = appointments.get(appointmentId);
    if (visit === undefined) return;
    await follow(storm, appointments, appointmentId, await storm.send(rpc, { ...nameOf(visit), ...request }));
  }
}
