import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import { type Appointments, follow, type KnownAppointment, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-terms.js";

/** What can follow each status of an appointment of the hour, a step on or a step back. */
const FOLLOWING: Readonly<Record<string, readonly Step[]>> = {
  CONFIRMED: [["CheckInAppointment"], ["MarkAppointmentNoShow"]],
  CHECKED_IN: [["MarkAppointmentAttended"], ["CorrectAppointmentStatus", "CONFIRMED"]],
  ATTENDED: [["CorrectAppointmentStatus", "CHECKED_IN"]],
  NO_SHOW: [["CorrectAppointmentStatus", "CONFIRMED"]],
};

/** An RPC, and the status that a correction is to. */
type Step = readonly [rpc: string, status?: string];

const QUARTER_MS = 15 * 60_000;
/** How many quarters of an hour ahead somebody who walks in is given a slot at most. */
const QUARTERS = 4;

/** Takes somebody in who walked in, or enters what became of one who did, or takes that back. */
export async function receiveSomebody(storm: Storm, appointments: Appointments): Promise<void> {
  const end = storm.service.now() + QUARTERS * QUARTER_MS;
  const visit = pick([...appointments.values()].filter(({ startsAt }) => Date.parse(startsAt) <= end));
  const step = pick(FOLLOWING[visit?.status ?? ""] ?? []);
  if (visit === undefined || step === undefined || randomInt(3) === 0) keep(appointments, await takeIn(storm));
  else await follow(storm, appointments, visit.appointmentId, await enter(storm, visit, step));
}

/** In one of the next slots, or beside the schedule, for the minute that it is. */
function takeIn({ ground, service, send }: Storm): Promise<RestAnswer> {
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
  if (randomInt(3) === 0) return send("OverbookAppointment", { ...request, reason: "Se siente mal." });
  const quarter = Math.floor(service.now() / QUARTER_MS) + 1 + randomInt(QUARTERS);
  return send("BookAppointmentAt", { ...request, startsAt: new Date(quarter * QUARTER_MS).toISOString() });
}

function enter({ ground, send }: Storm, visit: KnownAppointment, [rpc, status]: Step): Promise<RestAnswer> {
  const { noShowReasonId } = ground;
  const changes: Readonly<Record<string, JsonObject>> = {
    MarkAppointmentNoShow: { noShowReasonId },
    CorrectAppointmentStatus: { status: status ?? "", reason: "Se marcó a otra persona." },
  };
  return send(rpc, { ...nameOf(visit), ...changes[rpc] });
}
