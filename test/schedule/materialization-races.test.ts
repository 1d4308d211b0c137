import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  call,
  day,
  everyMorning,
  materialize,
  mustCall,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { buildCommitGate, type CommitGate } from "./commit-gate.js";
import { countDeadlocks, detectDeadlocksEarly } from "./deadlocks.js";
import { brokenInvariants } from "./invariants.js";
import { scheduleDifferences } from "./schedule-differences.js";

const ON_HOLIDAYS_CLOSED = { ...everyMorning, holidayPolicy: "SKIP" };

let database: TestDatabase;
let service: TestService;
let gate: CommitGate;

beforeAll(async () => {
  database = await createTestDatabase();
  await detectDeadlocksEarly(database.adminUrl);
  gate = await buildCommitGate(database);
  const started = await startTestService({ DATABASE_URL: database.url });
  service = { ...started, query: (sql) => execute(database.adminUrl, sql) };
});

afterEach(async () => {
  const [broken, differences] = await Promise.all([brokenInvariants(service), scheduleDifferences(service)]);
  expect({ broken, differences }).toEqual({ broken: [], differences: [] });
});

afterAll(async () => {
  await gate.end();
  await service.close();
  expect(await countDeadlocks(database.adminUrl)).toBe(0);
  await database.drop();
});

describe("a concurrent holiday and first materialization", () => {
  test("leave no slot on the holiday if the schedule is not committed yet", async () => {
    const clinic = await openClinic(service, { rule: ON_HOLIDAYS_CLOSED, materialized: false });
    const open = await gate.close("MaterializeSchedule");
    const made = materialize(clinic);
    await gate.waiting(1);
    const closed = addHoliday(clinic, 20);
    await gate.waiting(2);
    await open();
    await Promise.all([made, closed]);
    expect(await slotsOn(clinic, 20)).toEqual([]);
    expect(await slotsOn(clinic, 21)).toHaveLength(8);
  });

  test("leave no slot on the holiday if the holiday is not committed yet", async () => {
    const clinic = await openClinic(service, { rule: ON_HOLIDAYS_CLOSED, materialized: false });
    const open = await gate.close("CreateHoliday");
    const closed = addHoliday(clinic, 22);
    await gate.waiting(1);
    const made = materialize(clinic);
    await gate.waiting(2);
    await open();
    await Promise.all([made, closed]);
    expect(await slotsOn(clinic, 22)).toEqual([]);
    expect(await slotsOn(clinic, 23)).toHaveLength(8);
  });
});

test("a slot that is being booked while a rule change withdraws it stays booked, and its appointment is displaced", async () => {
  const clinic = await openClinic(service);
  const patientId = await fixtures.createPatient(service);
  const [last] = (await optionsFor(clinic, { patientId })).slice(-1);
  const open = await gate.close("BookAppointment");
  const booked = book(clinic, patientId, `${last?.optionToken}`);
  await gate.waiting(1);
  const changed = endAtTen(clinic);
  await gate.waiting(2);
  await open();
  const { appointmentId: id } = appointmentIn(await booked);
  await changed;
  const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: id });
  expect(appointment).toMatchObject({ status: "PENDING", displaced: true, startsAt: last?.startsAt });
  expect(await slotsOn(clinic, 2)).toHaveLength(5);
});

test("an uncommitted rule change delays bookings of slots it withdraws, and no others", async () => {
  const clinic = await openClinic(service);
  const [patientId, otherId] = await Promise.all([fixtures.createPatient(service), fixtures.createPatient(service)]);
  const options = await optionsFor(clinic, { patientId });
  const [staying] = await optionsFor(clinic, { patientId: otherId });
  const open = await gate.close("UpdateProgramRule");
  const changed = endAtTen(clinic);
  await gate.waiting(1);
  const refused = book(clinic, patientId, `${options.at(-1)?.optionToken}`);
  await gate.waiting(2);
  expect(appointmentIn(await book(clinic, otherId, `${staying?.optionToken}`))).toMatchObject({ displaced: false });
  await gate.waiting(2);
  await open();
  await changed;
  expect(await refused).toMatchObject({ status: 410, body: { code: "OPTION_EXPIRED" } });
  expect(await slotsOn(clinic, 2)).toHaveLength(4);
});

describe("a concurrent cancellation and rule change leave no slot that no rule asks for", () => {
  test.each([
    ["CancelAppointment", "UpdateProgramRule"],
    ["UpdateProgramRule", "CancelAppointment"],
  ] as const)("if %s commits first and %s waits for it", async (first, second) => {
    const clinic = await openClinic(service);
    const { appointmentId } = await bookFirst(clinic, await fixtures.createPatient(service), {}, 7);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    const calls = {
      CancelAppointment: () =>
        mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId }),
      UpdateProgramRule: () => endAtTen(clinic),
    };
    const open = await gate.close(first);
    const ahead = calls[first]();
    await gate.waiting(1);
    const behind = calls[second]();
    await gate.waiting(2);
    await open();
    await Promise.all([ahead, behind]);
    expect(await slotsOn(clinic, 2)).toHaveLength(4);
  });
});

test("if a rule has a slot at the time of a retained one, the slot is offered after the appointment is cancelled", async () => {
  const clinic = await openClinic(service);
  const { appointmentId, startsAt } = await bookFirst(clinic, await fixtures.createPatient(service));
  await changeRule(clinic, { startsAtLocal: "10:00:00" });
  const earlier = { ...everyMorning, startsAtLocal: "08:00:00", endsAtLocal: "10:00:00" };
  await fixtures.createRule(service, clinic.programId, earlier);
  expect(await slotsOn(clinic, 2)).toHaveLength(9);
  const patientId = await fixtures.createPatient(service);
  const startsOffered = async () => (await optionsFor(clinic, { patientId })).map((option) => option.startsAt);
  expect(await startsOffered()).not.toContain(startsAt);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
  await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
  expect(await startsOffered()).toHaveLength(8);
  expect(await startsOffered()).toContain(startsAt);
});

describe("two holidays and a concurrent move between their dates and two programs:", () => {
  test("the holidays wait for an uncommitted move", async () => {
    const { clinics, move } = await prepareMove(40);
    const open = await gate.close("RescheduleAppointment");
    const moved = move();
    await gate.waiting(1);
    const closed = [addHoliday(clinics[0], 40), addHoliday(clinics[0], 41)];
    await gate.waiting(3);
    await open();
    expect((await moved).status).toBe(200);
    await Promise.all(closed);
    expect(await freeSlots(clinics, [40, 41])).toBe(0);
  });

  test("a move into a withdrawn slot is rejected", async () => {
    const { clinics, move } = await prepareMove(50);
    const open = await gate.close("CreateHoliday");
    const closed = [addHoliday(clinics[0], 50), addHoliday(clinics[0], 51)];
    await gate.waiting(2);
    const moved = move();
    await gate.waiting(3);
    await open();
    await Promise.all(closed);
    expect([200, 410]).toContain((await moved).status);
    expect(await freeSlots(clinics, [50, 51])).toBe(0);
  });

  test("no order of them deadlocks", async () => {
    for (const first of [60, 63, 66]) {
      const { clinics, move } = await prepareMove(first);
      const closed = [addHoliday(clinics[0], first + 1), addHoliday(clinics[1], first)];
      const [moved] = await Promise.all([move(), ...closed]);
      expect([200, 410]).toContain(moved.status);
      expect(await freeSlots(clinics, [first, first + 1])).toBe(0);
    }
  });
});

/**
 * Books an appointment in one program on a day. Returns the two programs, and a move to the other one on the next day.
 */
async function prepareMove(days: number) {
  const rule = ON_HOLIDAYS_CLOSED;
  const from = await openClinic(service, { rule });
  const to = await openClinic(service, { rule, serviceId: from.serviceId });
  const [first, second] = [day(from, days), day(from, days + 1)];
  const patientId = await fixtures.createPatient(service);
  const here = (await optionsFor(from, { patientId, dateFrom: first, dateTo: first })).find(isIn(from));
  const { appointmentId } = appointmentIn(await book(from, patientId, `${here?.optionToken}`));
  const there = (await optionsFor(from, { appointmentId, dateFrom: second, dateTo: second })).find(isIn(to));
  const request = { appointmentId, optionToken: `${there?.optionToken}`, expectedVersion: 1 };
  return { clinics: [from, to] as const, move: () => call(from, "RescheduleAppointment", request) };
}

function isIn({ programId }: Clinic) {
  return (option: { readonly programId: string }) => option.programId === programId;
}

function addHoliday(clinic: Clinic, days: number) {
  return mustCall(clinic, "CreateHoliday", { date: day(clinic, days), name: "Día cívico", active: true });
}

function endAtTen(clinic: Clinic) {
  return changeRule(clinic, { endsAtLocal: "10:00:00" });
}

function changeRule(clinic: Clinic, changes: object) {
  const { programId, ruleId } = clinic;
  return mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, ...changes });
}

function slotsOn(clinic: Clinic, days: number): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT id FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, days)}'`,
  );
}

async function freeSlots(clinics: readonly Clinic[], days: readonly number[]): Promise<number> {
  const found = await Promise.all(clinics.flatMap((clinic) => days.map((each) => slotsFreeOn(clinic, each))));
  return found.flat().length;
}

function slotsFreeOn(clinic: Clinic, days: number): Promise<Record<string, unknown>[]> {
  return service.query(
    `SELECT id FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, days)}'
       AND appointment_id IS NULL`,
  );
}
