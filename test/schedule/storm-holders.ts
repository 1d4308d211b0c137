import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Appointments, follow, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-context.js";
import { findOptions } from "./storm-options.js";

/** A hold that a caller of the storm knows. */
interface KnownHold {
  readonly holdId: string;
  readonly patientId: string;
  readonly appointmentId?: string;
  readonly optionToken: string;
}

/** Shorter and longer than the storm with kills. Callers and merges end almost every hold before. */
const MINUTES = [1, 10] as const;

/**
 * Holds an option for a patient or for an appointment, half of the time one of several. Then books or releases it,
 * leaves it to another caller, or lets it expire. A third of the time answers an offer of a freed slot instead.
 */
export async function holdSomething(
  storm: Storm,
  appointments: Appointments,
  holds: Map<string, KnownHold>,
): Promise<void> {
  if (randomInt(3) === 0) return answerOffer(storm, appointments);
  const left = pick([...holds.values()]);
  if (left !== undefined && randomInt(3) === 0) return endHold(storm, appointments, holds, left);
  const made = await makeHold(storm, appointments);
  if (made === undefined) return;
  holds.set(made.holdId, made);
  if (randomInt(3) > 0) await endHold(storm, appointments, holds, made);
}

async function makeHold(storm: Storm, appointments: Appointments): Promise<KnownHold | undefined> {
  const appointment = randomInt(3) === 0 ? pick([...appointments.values()]) : undefined;
  const { patientIds, appointmentTypeId } = storm.fixture;
  const patient = () => ({ patientId: `${pick(patientIds)}`, appointmentTypeId });
  const subject: JsonObject = appointment === undefined ? patient() : { appointmentId: appointment.appointmentId };
  const tokens = (await findOptions(storm, subject)).map((option) => option.optionToken);
  const optionToken = pick(tokens);
  if (optionToken === undefined) return undefined;
  const others = tokens.filter((token) => token !== optionToken).slice(0, 5);
  const alternatives = randomInt(2) === 0 ? {} : { alternativeOptionTokens: others };
  const { status, body } = await storm.send("HoldAppointmentOption", {
    optionToken,
    minutes: pick(MINUTES) ?? 1,
    ...alternatives,
  });
  return status === 200 ? (body["hold"] as KnownHold) : undefined;
}

/** Books or releases an offer to a waitlist entry, if there is one. */
async function answerOffer(storm: Storm, appointments: Appointments): Promise<void> {
  const { body } = await storm.send("ListHolds", { pageSize: 200 });
  const holds = (body["holds"] ?? []) as readonly { readonly holdId: string; readonly waitlistEntryId?: string }[];
  const offer = pick(holds.filter(({ waitlistEntryId }) => waitlistEntryId !== undefined));
  if (offer === undefined) return;
  const answer = await storm.send("GetHold", { holdId: offer.holdId });
  const offered = answer.body["hold"] as Partial<KnownHold> | undefined;
  if (offered?.optionToken !== undefined) await endHold(storm, appointments, new Map(), offered as KnownHold);
}

async function endHold(
  storm: Storm,
  appointments: Appointments,
  holds: Map<string, KnownHold>,
  { holdId, patientId, appointmentId, optionToken }: KnownHold,
): Promise<void> {
  holds.delete(holdId);
  if (randomInt(3) === 0) {
    await storm.send("ReleaseHold", { holdId });
  } else if (appointmentId === undefined) {
    const { requestSourceId, appointmentTypeId } = storm.fixture;
    const request = { patientId, optionToken, requestSourceId, appointmentTypeId };
    keep(appointments, await storm.send("BookAppointment", request));
  } else {
    const appointment = appointments.get(appointmentId);
    if (appointment === undefined) return;
    const answer = await storm.send("RescheduleAppointment", { ...nameOf(appointment), optionToken });
    await follow(storm, appointments, appointmentId, answer);
  }
}
