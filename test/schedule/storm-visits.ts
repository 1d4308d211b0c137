import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import { type Appointments, follow, type KnownAppointment, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-terms.js";

const QUARTER_MS = 15 * 60_000;
/** How many quarters of an hour ahead somebody who walks in is given a slot at most. */
const QUARTERS = 4;

/**
 * Receives patients one after the other until the storm is over, who walked in and are seen now or in one of the next slots, in
 * turn. What is entered of each is taken back again, every step of it, while others move, merge and call off what is about.
 */
export async function receive(storm: Storm, appointments: Appointments): Promise<void> {
  for (let turn = 0; !storm.isOver(); turn += 1) {
    const answer = await takeIn(storm, turn % 2 === 0);
    keep(appointments, answer);
    const visit = answer.body["appointment"] as KnownAppointment | undefined;
    if (visit !== undefined) await enterAll(storm, appointments, visit.appointmentId);
  }
}

/** Beside the schedule, for the minute that it is, or in a slot of the hour to come. */
function takeIn({ ground, service, send }: Storm, isNow: boolean): Promise<RestAnswer> {
  const { requestSourceId, appointmentTypeId, serviceId, patientIds, practitionerIds, walkInProgramId } = ground;
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

/** Enters a visit, takes each step of it back, and calls it off. A step that is refused is left out. */
async function enterAll(storm: Storm, appointments: Appointments, appointmentId: string): Promise<void> {
  const { noShowReasonId, cancellationReasonId } = storm.ground;
  const back = (status: string) => ({ status, reason: "Se marcó a otra persona." });
  const steps: readonly (readonly [rpc: string, request: JsonObject])[] = [
    ["MarkAppointmentNoShow", { noShowReasonId }],
    ["CorrectAppointmentStatus", back("CONFIRMED")],
    ["CheckInAppointment", {}],
    ["CorrectAppointmentStatus", back("CONFIRMED")],
    ["CheckInAppointment", {}],
    ["MarkAppointmentAttended", {}],
    ["CorrectAppointmentStatus", back("CHECKED_IN")],
    ["CancelAppointment", { cancellationReasonId }],
  ];
  for (const [rpc, request] of steps) {
    const visit = appointments.get(appointmentId);
    if (visit === undefined) return;
    await follow(storm, appointments, appointmentId, await storm.send(rpc, { ...nameOf(visit), ...request }));
  }
}
