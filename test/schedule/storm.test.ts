import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as makers from "../contract/makers.js";
import type { RestAnswer } from "../support/rest-request.js";
import {
  book,
  type Clinic,
  call,
  day,
  everyMorning,
  type OptionBody,
  openClinic,
  optionsFor,
  search,
} from "./clinic.js";
import { brokenInvariants } from "./invariants.js";
import { startTwins, type Twins } from "./twins.js";

vi.mock("../../src/services/services.js", async (original) =>
  (await import("./with-rescheduling.js")).withRescheduling(original),
);

/** How long the storm lasts; STORM_SECONDS makes it longer. */
const STORM_MS = Number(process.env["STORM_SECONDS"] ?? 4) * 1_000;
/** How many last units are fought for; LAST_UNIT_TRIALS makes it more. */
const TRIALS = Number(process.env["LAST_UNIT_TRIALS"] ?? 25);
const CALLERS = 12;
const CONTENDERS = 16;
const SLACK_MS = 120_000;
/** The SQLSTATE of a wait that was given up. */
const LOCK_TIMEOUT = "55P03";

let twins: Twins;

beforeAll(async () => {
  twins = await startTwins();
});

afterAll(() => twins.close());

test(
  "whatever is done at once over two processes, nobody sees a server error and the bookings agree",
  async () => {
    const storm = await gather();
    const end = Date.now() + STORM_MS;
    const broken = new Set<string>();
    const watch = async () => {
      while (Date.now() < end) for (const name of await brokenInvariants(twins.both[0])) broken.add(name);
    };
    const actors = Array.from({ length: CALLERS }, (_, i) => act(storm, end, i === 0));
    await Promise.all([watch(), ...actors]);
    for (const name of await brokenInvariants(twins.both[0])) broken.add(name);
    expect([...broken]).toEqual([]);
    expect(await failuresSeen()).toEqual({ causes: [], deadlocks: 0 });
    expect(Object.keys(storm.seen).filter((answer) => answer.endsWith(" 500"))).toEqual([]);
    const happened = Object.keys(storm.seen);
    for (const rpc of ["BookAppointment", "RescheduleAppointment", "CancelAppointment", "UpdateProgramRule"])
      expect(happened).toContain(`${rpc} 200`);
  },
  STORM_MS + SLACK_MS,
);

test(
  `of ${CONTENDERS} who want the last unit of a day's capacity, one gets it`,
  async () => {
    const clinics = await Promise.all(twins.both.map((service) => openSmallClinic(service)));
    const [here, there] = [clinics[0] as Clinic, { ...(clinics[0] as Clinic), service: twins.both[1] }];
    const patients = await Promise.all(Array.from({ length: CONTENDERS }, () => makers.createPatient(twins.both[0])));
    for (let trial = 0; trial < TRIALS; trial++) {
      const date = day(here, 2 + (trial % 80));
      const span = { dateFrom: date, dateTo: date };
      const options = await Promise.all(patients.map((patientId) => optionsFor(here, { patientId, ...span })));
      const answers = await Promise.all(
        patients.map((patientId, i) => book(i % 2 ? here : there, patientId, tokenOf(options[i], i))),
      );
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([200, ...Array.from({ length: CONTENDERS - 1 }, () => 409)]);
      const winner = answers.find(({ status }) => status === 200)?.body["appointment"] as JsonObject;
      await cancel(here, winner);
    }
    expect(await brokenInvariants(twins.both[0])).toEqual([]);
  },
  SLACK_MS + TRIALS * 1_000,
);

interface Storm {
  readonly clinics: readonly Clinic[];
  readonly patients: readonly string[];
  readonly practitioners: readonly string[];
  readonly reasonId: string;
  readonly appointments: JsonObject[];
  readonly seen: Record<string, number>;
}

/** Two programs at the same hours that share practitioners, as seen from both services. */
async function gather(): Promise<Storm> {
  const [service] = twins.both;
  const make = (maker: makers.Maker, count: number) =>
    Promise.all(Array.from({ length: count }, () => maker.create(service, {})));
  const [practitioners, patients, serviceId, reasonId] = await Promise.all([
    make(makers.practitioner, 3),
    make(makers.patient, 10),
    makers.healthcareService.create(service, {}),
    makers.cancellationReason.create(service, {}),
  ]);
  const changes = { practitionerIds: practitioners, serviceId };
  const programs = await Promise.all([
    openClinic(service, { ...changes, rule: { dailyCapacity: 6 } }),
    openClinic(service, { ...changes, rule: { slotDurationMinutes: 40, dailyCapacity: 9 } }),
  ]);
  const clinics = programs.flatMap((clinic) => twins.both.map((each) => ({ ...clinic, service: each })));
  return { clinics, patients, practitioners, reasonId, appointments: [], seen: {} };
}

async function act(storm: Storm, end: number, isConfiguring: boolean): Promise<void> {
  while (Date.now() < end) {
    const clinic = pick(storm.clinics) as Clinic;
    const turn = randomInt(100);
    if (isConfiguring) await reconfigure(storm, clinic);
    else if (turn < 45) await bookSomething(storm, clinic);
    else if (turn < 75) await moveSomething(storm, clinic);
    else await stepOn(storm, clinic);
  }
}

async function bookSomething(storm: Storm, clinic: Clinic): Promise<void> {
  const patientId = `${pick(storm.patients)}`;
  const option = pick(optionsOf(note(storm, "SearchOptions", await search(clinic, { patientId, ...dates(clinic) }))));
  if (option === undefined) return;
  keep(storm, note(storm, "BookAppointment", await book(clinic, patientId, option.optionToken)));
}

async function moveSomething(storm: Storm, clinic: Clinic): Promise<void> {
  const appointment = pick(storm.appointments);
  if (appointment === undefined) return;
  const appointmentId = appointment["id"] as string;
  const answer = note(storm, "SearchOptions", await search(clinic, { appointmentId, ...dates(clinic) }));
  const option = pick(optionsOf(answer));
  if (option === undefined) return;
  const request = { appointmentId, optionToken: option.optionToken, expectedVersion: versionOf(appointment) };
  keep(storm, note(storm, "RescheduleAppointment", await call(clinic, "RescheduleAppointment", request)));
}

async function stepOn(storm: Storm, clinic: Clinic): Promise<void> {
  const appointment = pick(storm.appointments);
  if (appointment === undefined) return;
  const request = { appointmentId: appointment["id"] as string, expectedVersion: versionOf(appointment) };
  if (randomInt(3) > 0) {
    const cancellation = { ...request, cancellationReasonId: storm.reasonId };
    note(storm, "CancelAppointment", await call(clinic, "CancelAppointment", cancellation));
    storm.appointments.splice(storm.appointments.indexOf(appointment), 1);
    return;
  }
  keep(storm, note(storm, "ConfirmAppointment", await call(clinic, "ConfirmAppointment", request)));
}

/** Changes what the schedule is made from, on the version that is current or was a moment ago. */
async function reconfigure(storm: Storm, clinic: Clinic): Promise<void> {
  const { programId, ruleId } = clinic;
  const turn = randomInt(4);
  if (turn === 0) note(storm, "MaterializeSchedule", await call(clinic, "MaterializeSchedule", { programId }));
  if (turn === 1) {
    const { body } = await call(clinic, "GetProgramRule", { programId, ruleId });
    const endsAtLocal = pick(["10:00:00", "11:30:00", "12:00:00"]) as string;
    const expectedVersion = versionOf(body["programRule"] as JsonObject);
    const request = { programId, ruleId, expectedVersion, endsAtLocal, holidayPolicy: "SKIP" };
    note(storm, "UpdateProgramRule", await call(clinic, "UpdateProgramRule", request));
  }
  if (turn === 2) {
    const { body } = await call(clinic, "GetProgramPractitioners", { programId });
    const expectedVersion = versionOf(body["programPractitioners"] as JsonObject);
    const practitionerIds = storm.practitioners.slice(randomInt(2));
    const request = { programId, practitionerIds, expectedVersion };
    note(storm, "ReplaceProgramPractitioners", await call(clinic, "ReplaceProgramPractitioners", request));
  }
  if (turn === 3) {
    const request = { date: day(clinic, 2 + randomInt(60)), name: "Día cívico", active: true };
    note(storm, "CreateHoliday", await call(clinic, "CreateHoliday", request));
  }
}

/** What failed in the services, but for waits that a slow machine made too long, and how many deadlocks there were. */
async function failuresSeen(): Promise<object> {
  const causes = twins.both
    .flatMap(({ log }) => log)
    .map(({ cause }) => (cause as { readonly code?: unknown; readonly constraint?: unknown } | undefined) ?? {})
    .filter(({ code }) => code !== undefined && code !== LOCK_TIMEOUT);
  const query = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";
  const [row] = await twins.both[0].query(query);
  return { causes, deadlocks: row?.["deadlocks"] };
}

function openSmallClinic(service: Clinic["service"]): Promise<Clinic> {
  return openClinic(service, { rule: { ...everyMorning, dailyCapacity: 1, endsAtLocal: "16:00:00" } });
}

async function cancel(clinic: Clinic, { id, version }: JsonObject): Promise<void> {
  const cancellationReasonId = await makers.cancellationReason.create(clinic.service, {});
  const request = { appointmentId: id as string, expectedVersion: Number(version), cancellationReasonId };
  expect((await call(clinic, "CancelAppointment", request)).status).toBe(200);
}

function note(storm: Storm, rpc: string, answer: RestAnswer): RestAnswer {
  const name = `${rpc} ${answer.status}`;
  storm.seen[name] = (storm.seen[name] ?? 0) + 1;
  return answer;
}

function keep({ appointments }: Storm, { status, body }: RestAnswer): void {
  if (status !== 200) return;
  const changed = body["appointment"] as JsonObject;
  const index = appointments.findIndex(({ id }) => id === changed["id"]);
  if (index < 0) appointments.push(changed);
  else appointments[index] = changed;
}

function dates(clinic: Clinic): JsonObject {
  return { dateFrom: day(clinic, 2), dateTo: day(clinic, 4) };
}

function optionsOf({ body }: RestAnswer): readonly OptionBody[] {
  return (body["options"] ?? []) as unknown as readonly OptionBody[];
}

function tokenOf(options: readonly OptionBody[] | undefined, index: number): string {
  return `${options?.[index]?.optionToken}`;
}

function versionOf(resource: JsonObject): number {
  return Number(resource["version"]);
}

function pick<T>(items: readonly T[]): T | undefined {
  return items.length === 0 ? undefined : items[randomInt(items.length)];
}
