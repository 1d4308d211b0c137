import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { registration } from "../support/registration.js";
import { withoutNewMembers } from "../support/released-members.js";
import { day } from "./clinic.js";
import { type Appointments, follow, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-context.js";
import { holdSomething } from "./storm-holders.js";
import { findOptions } from "./storm-options.js";
import { bookSeveral } from "./storm-series.js";

/** Percentages of the actions. The remaining percentage confirms or cancels an appointment. */
const LOOKS = 2;
const BOOKINGS = 16;
const HOLDS = 16;
const TIMED = 8;
const SERIES = 18;
const MOVES = 15;
const MERGES = 3;

/**
 * Searches, books, holds, moves, confirms, cancels and merges until the storm is over. Checks the invariants now and
 * then.
 */
export async function attend(storm: Storm, appointments: Appointments): Promise<void> {
  const holds: Parameters<typeof holdSomething>[2] = new Map();
  while (!storm.isOver()) {
    const turn = randomInt(100);
    if (turn < LOOKS) await storm.look();
    else if (turn < LOOKS + BOOKINGS) await bookSomething(storm, appointments);
    else if (turn < LOOKS + BOOKINGS + HOLDS) await holdSomething(storm, appointments, holds);
    else if (turn < LOOKS + BOOKINGS + HOLDS + TIMED) await bookSomeTime(storm, appointments);
    else if (turn < LOOKS + BOOKINGS + HOLDS + TIMED + SERIES) await bookSeveral(storm, appointments);
    else if (turn < LOOKS + BOOKINGS + HOLDS + TIMED + SERIES + MOVES) await moveSomething(storm, appointments);
    else if (turn < LOOKS + BOOKINGS + HOLDS + TIMED + SERIES + MOVES + MERGES) await mergeSomebody(storm);
    else await stepOn(storm, appointments);
  }
}

async function bookSomething(storm: Storm, appointments: Appointments): Promise<void> {
  const { requestSourceId, appointmentTypeId, patientIds } = storm.fixture;
  const patientId = `${pick(patientIds)}`;
  const optionToken = await findOption(storm, { patientId, appointmentTypeId });
  if (optionToken === undefined) return;
  const request = { patientId, optionToken, requestSourceId, appointmentTypeId };
  keep(appointments, await storm.send("BookAppointment", request));
}

/** Books a random time of one or more slots, which need not start with a slot. Overbooks in two of five cases. */
async function bookSomeTime(storm: Storm, appointments: Appointments): Promise<void> {
  const { requestSourceId, appointmentTypeId, serviceId, patientIds, practitionerIds, programs } = storm.fixture;
  const date = day(storm, 2 + randomInt(storm.days));
  const minuteOfDay = 8 * 60 + 10 * randomInt(24);
  const time = [Math.floor(minuteOfDay / 60), minuteOfDay % 60].map((part) => String(part).padStart(2, "0")).join(":");
  const request = {
    patientId: `${pick(patientIds)}`,
    programId: `${pick(programs)?.programId}`,
    practitionerId: `${pick(practitionerIds)}`,
    startsAt: `${date}T${time}:00-05:00`,
    durationMinutes: 20 * (1 + randomInt(4)),
    requestSourceId,
    appointmentTypeId,
    serviceId,
  };
  const isForced = randomInt(5) < 2;
  const answer = isForced
    ? await storm.send("OverbookAppointment", { ...request, reason: "Viene de lejos." })
    : await storm.send("BookAppointmentAt", request);
  keep(appointments, answer);
}

async function moveSomething(storm: Storm, appointments: Appointments): Promise<void> {
  const appointment = pick([...appointments.values()]);
  if (appointment === undefined) return;
  const { appointmentId, expectedVersion } = nameOf(appointment);
  const optionToken = await findOption(storm, { appointmentId });
  if (optionToken === undefined) return;
  const answer = await storm.send("RescheduleAppointment", { appointmentId, expectedVersion, optionToken });
  await follow(storm, appointments, appointmentId, answer);
}

async function stepOn(storm: Storm, appointments: Appointments): Promise<void> {
  const appointment = pick([...appointments.values()]);
  if (appointment === undefined) return;
  const name = nameOf(appointment);
  const { cancellationReasonId } = storm.fixture;
  const answer =
    randomInt(3) > 0
      ? await storm.send("CancelAppointment", { ...name, cancellationReasonId })
      : await storm.send("ConfirmAppointment", name);
  await follow(storm, appointments, name.appointmentId, answer);
}

/**
 * Merges a random patient into another one, or into a new patient without appointments, who cannot have overlapping
 * ones.
 */
async function mergeSomebody({ fixture: { patientIds }, send }: Storm): Promise<void> {
  const duplicatePatientId = `${pick(patientIds)}`;
  const { body } = await send("RegisterPatient", { ...registration(withoutNewMembers()) });
  const newcomer = (body["patient"] as { id?: string } | undefined)?.id;
  const survivorPatientId = randomInt(2) > 0 ? newcomer : pick(patientIds);
  if (newcomer === undefined || survivorPatientId === undefined || survivorPatientId === duplicatePatientId) return;
  const versionOf = async (patientId: string) => {
    const answer = await send("GetPatient", { patientId });
    return (answer.body["patient"] as { version?: number } | undefined)?.version ?? 1;
  };
  const { status } = await send("MergePatients", {
    survivorPatientId,
    survivorExpectedVersion: await versionOf(survivorPatientId),
    duplicatePatientId,
    duplicateExpectedVersion: await versionOf(duplicatePatientId),
    reason: "Dos registros de la misma persona",
  });
  const place = patientIds.indexOf(duplicatePatientId);
  if (status === 200 && place >= 0) patientIds[place] = newcomer;
}

/** Returns the token of a random option. Undefined if there is none at the moment. */
async function findOption(storm: Storm, subject: JsonObject): Promise<string | undefined> {
  return pick(await findOptions(storm, subject))?.optionToken;
}
