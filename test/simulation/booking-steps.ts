import * as fc from "fast-check";
import { expect } from "vitest";
import type { OptionBody } from "../schedule/clinic.js";
import { book, bookAt, cancel, confirm, enterLate, move, overbook } from "./booking-model.js";
import type { AppointmentModel, ClinicModel, OptionModel, SlotModel } from "./clinic-model.js";
import { DAY } from "./clinic-model.js";
import { findRuns, minutesHeld } from "./option-model.js";
import { expectVerdict, nth, readTimes, steps, timeShown } from "./step.js";
import { PATIENTS, PRACTITIONERS, PROGRAMS, TYPE_MINUTES, type World } from "./world.js";

const any = fc.nat({ max: 1_000 });
const seldom = fc.nat({ max: 7 }).map((number) => number === 0);
const patient = fc.nat({ max: PATIENTS - 1 });
export const time = {
  patient,
  program: fc.nat({ max: PROGRAMS - 1 }),
  practitioner: fc.nat({ max: PRACTITIONERS - 1 }),
  day: fc.nat({ max: 1 }),
  from: fc.nat({ max: 19 }).map((tens) => 480 + 10 * tens),
  minutes: fc.constantFrom(20, 30, 40, 60),
};
const hasAppointments = ({ appointments }: ClinicModel) => appointments.length > 0;
const hasOptions = ({ options }: ClinicModel) => options.length > 0;

export const searches = steps(
  "search",
  { patient, isTyped: fc.boolean() },
  {
    run: (clinic, world, { patient: who, isTyped }) =>
      search(clinic, world, { patient: who }, isTyped ? TYPE_MINUTES : undefined),
  },
);

export const searchesElsewhere = steps(
  "search to move",
  { appointment: any },
  {
    isPossible: ({ appointments, now }) => appointments.some((each) => isMovable(each, now)),
    run: (clinic, world, { appointment: which }) => {
      const movable = clinic.appointments.filter((each) => isMovable(each, clinic.now));
      const appointment = nth(movable, which);
      return search(clinic, world, { appointment }, minutesHeld(clinic, appointment));
    },
  },
);

export const bookings = steps(
  "book",
  { option: any, isForeign: seldom, isUsed: seldom, isHeld: fc.boolean() },
  {
    isPossible: hasOptions,
    async run(clinic, world, { option: which, isForeign, isUsed, isHeld }) {
      const option = chosenOption(clinic, which, isForeign ? "appointment" : "patient", { isUsed, isHeld });
      const who = "patient" in option.subject ? option.subject.patient : option.subject.appointment.patient;
      const request = { patientId: `${world.patientIds[who]}`, optionToken: option.token, ...namesOf(world) };
      const answer = await world.call("BookAppointment", request);
      expectVerdict(clinic, world, answer, book(clinic, who, option, TYPE_MINUTES));
    },
  },
);

export const moves = steps(
  "move",
  { option: any, appointment: any, isForeign: seldom, isStale: seldom, isHeld: fc.boolean() },
  {
    isPossible: (clinic) => hasOptions(clinic) && hasAppointments(clinic),
    async run(clinic, world, { option: which, appointment: other, isForeign, isStale, isHeld }) {
      const option = chosenOption(clinic, which, isForeign ? "patient" : "appointment", { isUsed: false, isHeld });
      const appointment =
        "appointment" in option.subject ? option.subject.appointment : nth(clinic.appointments, other);
      const { appointmentId, expectedVersion } = named(world, appointment, isStale);
      const request = { appointmentId, expectedVersion, optionToken: option.token };
      const answer = await world.call("RescheduleAppointment", request);
      expectVerdict(clinic, world, answer, move(clinic, appointment, expectedVersion, option));
    },
  },
);

export const bookingsAt = steps("book at", time, { run: (...all) => bookTime("BookAppointmentAt", ...all) });
export const overbookings = steps("overbook", time, { run: (...all) => bookTime("OverbookAppointment", ...all) });
export const lateEntries = steps("enter late", time, { run: (...all) => bookTime("EnterLateVisit", ...all) });

export const confirmations = steps(
  "confirm",
  { appointment: any, isStale: seldom },
  {
    isPossible: hasAppointments,
    async run(clinic, world, { appointment: which, isStale }) {
      const appointment = nth(clinic.appointments, which);
      const request = named(world, appointment, isStale);
      const answer = await world.call("ConfirmAppointment", request);
      expectVerdict(clinic, world, answer, confirm(clinic, appointment, request.expectedVersion));
    },
  },
);

export const cancellations = steps(
  "cancel",
  { appointment: any, isStale: seldom },
  {
    isPossible: hasAppointments,
    async run(clinic, world, { appointment: which, isStale }) {
      const appointment = nth(clinic.appointments, which);
      const request = named(world, appointment, isStale);
      const { cancellationReasonId } = world;
      const answer = await world.call("CancelAppointment", { ...request, cancellationReasonId });
      expectVerdict(clinic, world, answer, cancel(clinic, appointment, request.expectedVersion));
    },
  },
);

/** Searches both days, requires exactly the options of the model, and keeps their tokens. */
export async function search(
  clinic: ClinicModel,
  world: World,
  subject: OptionModel["subject"],
  minutes: number | undefined,
): Promise<void> {
  const isNew = "patient" in subject;
  const who = isNew
    ? {
        patientId: `${world.patientIds[subject.patient]}`,
        ...(minutes && { appointmentTypeId: namesOf(world).appointmentTypeId }),
      }
    : { appointmentId: `${world.appointmentIds[subject.appointment.id]}` };
  const [dateFrom, dateTo] = world.dates;
  const request = { ...who, serviceId: `${world.clinics[0]?.serviceId}`, dateFrom, dateTo, pageSize: 200 };
  const answer = await world.call("SearchAppointmentOptions", request);
  const found = isNew
    ? findRuns(clinic, subject.patient, minutes, [0, 1])
    : findRuns(clinic, subject.appointment.patient, minutes, [0, 1], subject.appointment);
  const shown = ((answer.body["options"] ?? []) as unknown as readonly OptionBody[]).map(({ optionToken, ...rest }) => {
    const { programId, practitionerId, startsAt, endsAt } = readTimes(rest);
    return { token: optionToken, text: JSON.stringify({ programId, practitionerId, startsAt, endsAt }) };
  });
  const runs = new Map(found.map((run) => [JSON.stringify(timeShown(world, wholeOf(run))), run]));
  expect(shown.map(({ text }) => text).toSorted()).toEqual([...runs.keys()].toSorted());
  for (const [text, slots] of runs) {
    const token = `${shown.find((each) => each.text === text)?.token}`;
    const { start, end } = wholeOf(slots);
    clinic.options.push({ token, subject, slots, minutes: end - start, at: clinic.now, used: false });
  }
}

/** How the model decides each request for a time. */
const DECIDE = { BookAppointmentAt: bookAt, OverbookAppointment: overbook, EnterLateVisit: enterLate };

async function bookTime(
  rpc: keyof typeof DECIDE,
  clinic: ClinicModel,
  world: World,
  chosen: { patient: number; program: number; practitioner: number; day: number; from: number; minutes: number },
): Promise<void> {
  const { program, practitioner, minutes } = chosen;
  const start = chosen.day * DAY + chosen.from;
  const startsAt = new Date(world.msOf(start)).toISOString();
  const answer = await world.call(rpc, {
    patientId: `${world.patientIds[chosen.patient]}`,
    programId: `${world.clinics[program]?.programId}`,
    practitionerId: `${world.practitionerIds[practitioner]}`,
    serviceId: `${world.clinics[0]?.serviceId}`,
    startsAt,
    durationMinutes: minutes,
    ...namesOf(world),
    ...(rpc !== "BookAppointmentAt" && { reason: "Viene de lejos." }),
    ...(rpc === "EnterLateVisit" && { arrivedAt: startsAt, attendedAt: startsAt }),
  });
  expectVerdict(
    clinic,
    world,
    answer,
    DECIDE[rpc](clinic, chosen.patient, { program, practitioner, start, end: start + minutes }),
  );
}

/** Chooses an option for this kind of subject, used or unused, held or not. If there is none, chooses from all options. */
function chosenOption(
  { options }: ClinicModel,
  which: number,
  kind: "patient" | "appointment",
  { isUsed, isHeld }: { readonly isUsed: boolean; readonly isHeld: boolean },
): OptionModel {
  const some = options.filter(({ subject, used }) => kind in subject && used === isUsed);
  const held = isHeld ? some.filter(({ hold }) => hold !== undefined).slice(-3) : [];
  return nth(held.length > 0 ? held : some.length > 0 ? some : options, which);
}

function isMovable({ status, start }: AppointmentModel, now: number): boolean {
  return status !== "CANCELLED" && start > now;
}

function wholeOf(run: readonly SlotModel[]) {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) throw new Error("an option without a slot");
  const { program, practitioner, start } = first;
  return { program, practitioner, start, end: last.end };
}

/** Returns the id and version of an appointment, for a change. A stale version is the one before. */
export function named({ appointmentIds }: World, { id, version }: AppointmentModel, isStale: boolean) {
  return { appointmentId: `${appointmentIds[id]}`, expectedVersion: isStale ? version - 1 : version };
}

export function namesOf({ clinics: [first] }: World) {
  return { requestSourceId: `${first?.requestSourceId}`, appointmentTypeId: `${first?.appointmentTypeId}` };
}
