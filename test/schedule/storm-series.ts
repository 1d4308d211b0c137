import { randomInt } from "node:crypto";
import type { RestAnswer } from "../support/rest-request.js";
import type { OptionBody } from "./clinic.js";
import { type Appointments, type KnownAppointment, keep, nameOf } from "./storm-appointments.js";
import { pick, type Storm } from "./storm-context.js";
import { findOptions } from "./storm-options.js";

const DAY_MS = 86_400_000;

/**
 * Books a family, or a series that it then moves by a day or cancels in part. The first time is that of an option; for a
 * family preferably one that another option follows.
 */
export async function bookSeveral(storm: Storm, appointments: Appointments): Promise<void> {
  const { requestSourceId, appointmentTypeId, serviceId, patientIds } = storm.fixture;
  const patientId = `${pick(patientIds)}`;
  const options = await findOptions(storm, { patientId, appointmentTypeId });
  const isFamily = randomInt(2) === 0;
  const option = (isFamily ? pick(options.filter((one) => options.some(follows(one)))) : undefined) ?? pick(options);
  if (option === undefined) return;
  const { programId, practitionerId, startsAt } = option;
  const place = { programId, practitionerId, serviceId, requestSourceId, startsAt };
  if (isFamily) {
    const family = [patientId, `${pick(patientIds.filter((id) => id !== patientId))}`];
    const visits = family.map((each) => ({ patientId: each, appointmentTypeId }));
    keepAll(appointments, await storm.send("BookTogether", { ...place, visits }));
    return;
  }
  const series = { patientId, appointmentTypeId, intervalDays: 1, count: 2 };
  await changeSeries(storm, appointments, await storm.send("BookSeries", { ...place, ...series }));
}

function follows(one: OptionBody) {
  return ({ programId, practitionerId, startsAt }: OptionBody) =>
    programId === one.programId && practitionerId === one.practitionerId && startsAt === one.endsAt;
}

async function changeSeries(storm: Storm, appointments: Appointments, booked: RestAnswer): Promise<void> {
  const seriesId = booked.body["seriesId"];
  const [from] = keepAll(appointments, booked);
  if (from === undefined || typeof seriesId !== "string") return;
  const { appointmentId: fromAppointmentId, expectedVersion } = nameOf(from);
  const { cancellationReasonId } = storm.fixture;
  const one = { seriesId, fromAppointmentId };
  const startsAt = new Date(Date.parse(from.startsAt) + DAY_MS * (1 + randomInt(2))).toISOString();
  keepAll(appointments, await storm.send("MoveSeries", { ...one, expectedVersion, startsAt }));
  if (randomInt(4) > 0) keepAll(appointments, await storm.send("CancelSeries", { ...one, cancellationReasonId }));
}

/** Stores the appointments of an answer and returns them. */
function keepAll(appointments: Appointments, answer: RestAnswer): readonly KnownAppointment[] {
  const { status, body } = answer;
  const changed = (status === 200 ? (body["appointments"] ?? []) : []) as KnownAppointment[];
  for (const appointment of changed) keep(appointments, { ...answer, body: { appointment } });
  return changed;
}
