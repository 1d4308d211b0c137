import type { JsonObject } from "@bufbuild/protobuf";
import { localDateAt } from "../../src/scheduling/local-clock.js";
import * as makers from "../contract/makers.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  mustCall,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { pick } from "./storm-terms.js";
import type { Twins } from "./twins.js";

/** Who fights for the last units of days: some who book, and as many who move an appointment that they have. */
export interface Contest {
  readonly bookers: readonly Booker[];
  readonly movers: readonly Mover[];
  readonly cancellationReasonId: string;
}

interface Booker {
  readonly clinic: Clinic;
  readonly patientId: string;
}

interface Mover {
  readonly clinic: Clinic;
  appointment: AppointmentBody;
}

/** What came of a trial. */
export interface Trial {
  /** The statuses of all answers, in order. */
  readonly statuses: readonly number[];
  /** What the refusals said, each once. */
  readonly refusals: readonly string[];
}

/** Over how many days it goes, from the day after tomorrow. */
const DAYS = 88;
/** Four slots for each of four practitioners: contenders meet at slots and at practitioners too, and all at the day. */
const PRACTITIONERS = 4;
const RULE: JsonObject = { ...everyMorning, dailyCapacity: 1, endsAtLocal: "10:00:00" };

/** Makes a program that takes one appointment a day, and so many contenders of each kind, half of each at either service. */
export async function openContest({ both }: Twins, ofEachKind: number): Promise<Contest> {
  const [service] = both;
  const make = <T>(create: (index: number) => Promise<T>, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => create(index)));
  const practitionerIds = await make(() => makers.practitioner.create(service, {}), PRACTITIONERS);
  const clinic = await openClinic(service, { practitionerIds, rule: RULE });
  const at = (index: number): Clinic => ({ ...clinic, service: both[index % 2 === 0 ? 0 : 1] });
  const [bookers, movers, cancellationReasonId] = await Promise.all([
    make(async (index) => ({ clinic: at(index), patientId: await makers.createPatient(service) }), ofEachKind),
    make(async (index) => {
      const patientId = await makers.createPatient(service);
      return { clinic: at(index), appointment: await bookFirst(clinic, patientId, only(day(clinic, 2 + index))) };
    }, ofEachKind),
    makers.cancellationReason.create(service, {}),
  ]);
  return { bookers, movers, cancellationReasonId };
}

/**
 * Has all contenders go for the one unit of a day that nobody has yet, each for any of its slots, all at once. The day is
 * free again afterwards, or the one that the winner moved from.
 */
export async function contend(contest: Contest): Promise<Trial> {
  const { bookers, movers } = contest;
  const date = pick(freeDates(movers)) ?? "";
  const attempts = await Promise.all([
    ...bookers.map((booker) => aimToBook(contest, booker, date)),
    ...movers.map((mover) => aimToMove(mover, date)),
  ]);
  const outcomes = await Promise.all(attempts.map((attempt) => attempt()));
  const answers = outcomes.map(({ answer }) => answer);
  for (const { answer, settle } of outcomes) if (answer.status === 200) await settle(answer);
  return {
    statuses: answers.map(({ status }) => status).toSorted((a, b) => a - b),
    refusals: [...new Set(answers.flatMap((answer) => itemsOf(answer)))].toSorted(),
  };
}

/** An attempt that was made, and what is to be done should it have succeeded. */
interface Outcome {
  readonly answer: RestAnswer;
  settle(answer: RestAnswer): Promise<void>;
}

type Attempt = () => Promise<Outcome>;

async function aimToBook({ cancellationReasonId }: Contest, booker: Booker, date: string): Promise<Attempt> {
  const { clinic, patientId } = booker;
  const optionToken = await anyOption(clinic, { patientId }, date);
  const settle = async (answer: RestAnswer) => {
    const { appointmentId, version: expectedVersion } = appointmentIn(answer);
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion, cancellationReasonId });
  };
  return async () => ({ answer: await book(clinic, patientId, optionToken), settle });
}

async function aimToMove(mover: Mover, date: string): Promise<Attempt> {
  const { clinic, appointment } = mover;
  const { appointmentId, version: expectedVersion } = appointment;
  const optionToken = await anyOption(clinic, { appointmentId }, date);
  const settle = async (answer: RestAnswer) => {
    mover.appointment = { ...appointment, ...appointmentIn(answer) };
  };
  const request = { appointmentId, expectedVersion, optionToken };
  return async () => ({ answer: await call(clinic, "RescheduleAppointment", request), settle });
}

async function anyOption(clinic: Clinic, subject: JsonObject, date: string): Promise<string> {
  const option = pick(await optionsFor(clinic, { ...subject, ...only(date) }));
  if (option === undefined) throw new Error(`there is no option on ${date}, although nobody has it`);
  return option.optionToken;
}

function freeDates(movers: readonly Mover[]): string[] {
  const held = new Set(movers.map(({ appointment }) => localDateAt(Date.parse(appointment.startsAt))));
  const clinic = movers[0]?.clinic;
  if (clinic === undefined) return [];
  return Array.from({ length: DAYS }, (_, index) => day(clinic, 2 + index)).filter((date) => !held.has(date));
}

function only(date: string): JsonObject {
  return { dateFrom: date, dateTo: date };
}
