import type { JsonObject } from "@bufbuild/protobuf";
import { localDateAt } from "../../src/scheduling/local-clock.js";
import * as fixtures from "../contract/fixtures.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import {
  type AppointmentBody,
  appointmentIn,
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  mustCall,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { pick } from "./storm-context.js";
import type { Twins } from "./twins.js";

/** Contenders for the last unit of a day's capacity. Half of them book, half of them move an appointment. */
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

/** The result of a trial. */
export interface Trial {
  /** The statuses of all answers, sorted. */
  readonly statuses: readonly number[];
  /** The field errors of the rejections, without duplicates. */
  readonly refusals: readonly string[];
}

/** Number of days to choose from, starting the day after tomorrow. */
const DAYS = 88;
/**
 * Four slots for each of four practitioners. Contenders conflict at slots and practitioners too, and all at the daily
 * capacity.
 */
const PRACTITIONERS = 4;
const RULE: JsonObject = { ...everyMorning, dailyCapacity: 1, endsAtLocal: "10:00:00" };

/**
 * Opens a program with a daily capacity of one, with `ofEachKind` bookers and movers. One half of each calls the first
 * service, the other half the second.
 */
export async function openContest({ both }: Pick<Twins, "both">, ofEachKind: number): Promise<Contest> {
  const [service] = both;
  const make = <T>(create: (index: number) => Promise<T>, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => create(index)));
  const practitionerIds = await make(() => fixtures.practitioner.create(service, {}), PRACTITIONERS);
  const clinic = await openClinic(service, { practitionerIds, rule: RULE });
  const at = (index: number): Clinic => ({ ...clinic, service: both[index % 2 === 0 ? 0 : 1] });
  const [bookers, movers, cancellationReasonId] = await Promise.all([
    make(async (index) => ({ clinic: at(index), patientId: await fixtures.createPatient(service) }), ofEachKind),
    make(async (index) => {
      const patientId = await fixtures.createPatient(service);
      return { clinic: at(index), appointment: await bookFirst(clinic, patientId, only(day(clinic, 2 + index))) };
    }, ofEachKind),
    fixtures.cancellationReason.create(service, {}),
  ]);
  return { bookers, movers, cancellationReasonId };
}

/** A contender for the last unit of a day: its call, and the clean-up after a success. */
export interface Contender {
  readonly clinic: Clinic;
  readonly rpc: string;
  readonly request: JsonObject;
  /** Cancels the booking, or records the moved appointment, so that another day is free again. */
  settle(answer: RestAnswer): Promise<void>;
}

/** Prepares all contenders. Each chooses any slot of the same free day. */
export async function lineUp(contest: Contest): Promise<Contender[]> {
  const { bookers, movers } = contest;
  const date = pick(freeDates(movers)) ?? "";
  return Promise.all([
    ...bookers.map((booker) => aimToBook(contest, booker, date)),
    ...movers.map((mover) => aimToMove(mover, date)),
  ]);
}

/** Sends the calls of all contenders for one day at once, then cleans up. */
export async function contend(contest: Contest): Promise<Trial> {
  const contenders = await lineUp(contest);
  const answers = await Promise.all(contenders.map(({ clinic, rpc, request }) => call(clinic, rpc, request)));
  for (const [i, answer] of answers.entries()) if (answer.status === 200) await contenders[i]?.settle(answer);
  return {
    statuses: answers.map(({ status }) => status).toSorted((a, b) => a - b),
    refusals: [...new Set(answers.flatMap((answer) => itemsOf(answer)))].toSorted(),
  };
}

async function aimToBook({ cancellationReasonId }: Contest, booker: Booker, date: string): Promise<Contender> {
  const { clinic, patientId } = booker;
  const { requestSourceId, appointmentTypeId } = clinic;
  const optionToken = await anyOption(clinic, { patientId }, date);
  return {
    clinic,
    rpc: "BookAppointment",
    request: { patientId, optionToken, requestSourceId, appointmentTypeId },
    async settle(answer) {
      const { appointmentId, version: expectedVersion } = appointmentIn(answer);
      await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion, cancellationReasonId });
    },
  };
}

async function aimToMove(mover: Mover, date: string): Promise<Contender> {
  const { clinic, appointment } = mover;
  const { appointmentId, version: expectedVersion } = appointment;
  const optionToken = await anyOption(clinic, { appointmentId }, date);
  return {
    clinic,
    rpc: "RescheduleAppointment",
    request: { appointmentId, expectedVersion, optionToken },
    async settle(answer) {
      mover.appointment = { ...appointment, ...appointmentIn(answer) };
    },
  };
}

async function anyOption(clinic: Clinic, subject: JsonObject, date: string): Promise<string> {
  const option = pick(await optionsFor(clinic, { ...subject, ...only(date) }));
  if (option === undefined) throw new Error(`no option on ${date}, although the day is free`);
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
