import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { deskFixtures } from "../operations-clinic/desk-fixtures.js";
import { timedBooking } from "../operations-clinic/timed-bookings.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements, type SentStatement } from "../support/sent-statements.js";
import { startTestService, type TestService } from "../support/service.js";
import { awaitStep, bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "./clinic.js";
import { daysCounted, lockSummary, slotLocks } from "./locking-statements.js";

let database: TestDatabase;
let proxy: PostgresProxy;
let service: TestService;
let takeSent: () => SentStatement[];
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  takeSent = recordStatements(proxy);
  service = await startTestService({ DATABASE_URL: proxy.url });
});

beforeEach(async () => {
  clinic = await openClinic(service, { rule: { holidayPolicy: "SKIP" } });
  patientId = await fixtures.createPatient(service);
});

afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
});

describe("locks in the one order", () => {
  test("a booking, in two round trips", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const { requestSourceId, appointmentTypeId } = clinic;
    const request = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
    expect(await sentBy("BookAppointment", request)).toEqual({
      locked: ["idempotency_keys", "patients", "consumed_option_tokens", "slots", "practitioners", "day_counters"],
      trips: 2,
    });
  });

  test("a booking for a waitlist entry, in two round trips", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const { requestSourceId, appointmentTypeId, serviceId } = clinic;
    const waitlistEntryId = await deskFixtures(service).entry({ patientId, serviceId });
    const booking = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
    const { locked, trips } = await sentBy("BookAppointment", { ...booking, waitlistEntryId });
    expect([locked.slice(1, 4), trips]).toEqual([["patients", "waitlist_entries", "consumed_option_tokens"], 2]);
  });

  test("a booking by its time, in three round trips, because it finds its slots before it locks them", async () => {
    const sent = await send("BookAppointmentAt", await timedBooking(clinic, { durationMinutes: 60 }));
    expect(lockSummary(sent)).toEqual({
      locked: ["idempotency_keys", "patients", "slots", "practitioners", "day_counters"],
      trips: 3,
    });
    expect(slotLocks(sent)).toEqual([expect.stringMatching(/ order by "id" asc for no key update$/)]);
  });

  test("an overbooking, which locks its program FOR SHARE and uses no daily capacity", async () => {
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic));
    const request = { ...(await timedBooking(clinic)), reason: "Viene de lejos." };
    expect(await sentBy("OverbookAppointment", request)).toMatchObject({
      locked: ["idempotency_keys", "programs", "patients", "slots", "practitioners"],
    });
  });

  test.each([
    ["BookAppointmentAt", ["patients", "waitlist_entries", "slots", "practitioners", "day_counters"]],
    ["OverbookAppointment", ["programs", "patients", "waitlist_entries", "slots", "practitioners", "day_counters"]],
  ])("%s for a waitlist entry, after its patient", async (name, locked) => {
    const own = await openClinic(service);
    const waitlistEntryId = await deskFixtures(service).entry({ patientId, serviceId: own.serviceId });
    const request = await timedBooking(own, { patientId, waitlistEntryId, startsAt: `${day(own, 9)}T11:00:00-05:00` });
    const reason = name === "OverbookAppointment" ? { reason: "Viene de lejos." } : {};
    const sent = await sentBy(name, { ...request, ...reason });
    expect(sent.locked).toEqual(["idempotency_keys", ...locked]);
  });

  test("%s for a waitlist entry, which is locked after its patient", async () => {
    const booked = await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic, { durationMinutes: 60 }));
    const { appointmentId } = booked["appointment"] as { appointmentId: string };
    const options = await optionsFor(clinic, { appointmentId });
    const request = { appointmentId, optionToken: `${options.at(-1)?.optionToken}`, expectedVersion: 1 };
    const sent = await send("RescheduleAppointment", request);
    expect(lockSummary(sent).locked).toContain("slots");
    expect(slotLocks(sent)).toEqual([expect.stringMatching(/ order by "id" asc for no key update$/)]);
  });

  test.each([
    ["another day", 3],
    ["an earlier day", 1],
  ])("a move to %s, in two round trips", async (_, days) => {
    const { appointmentId: id } = await bookFirst(clinic, patientId);
    const dates = { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
    const [option] = await optionsFor(clinic, { appointmentId: id, ...dates });
    const request = { appointmentId: id, optionToken: `${option?.optionToken}`, expectedVersion: 1 };
    const sent = await send("RescheduleAppointment", request);
    expect(lockSummary(sent)).toEqual({
      locked: [
        "idempotency_keys",
        "patients",
        "appointments",
        "consumed_option_tokens",
        "slots",
        "practitioners",
        "day_counters",
      ],
      trips: 2,
    });
    expect(slotLocks(sent)).toEqual([expect.stringMatching(/ order by "id" asc for no key update$/)]);
    const counted = daysCounted(sent);
    expect(counted).toHaveLength(2);
    expect(counted).toEqual(counted.toSorted());
  });

  test.each([
    ["ConfirmAppointment", [], ["patients", "appointments"]],
    ["CheckInAppointment", ["ConfirmAppointment"], ["patients", "appointments"]],
    ["MarkAppointmentAttended", ["ConfirmAppointment", "CheckInAppointment"], ["appointments"]],
  ] as const)("%s", async (rpc, before, locked) => {
    const appointment = await bookFirst(clinic, patientId);
    const { appointmentId } = appointment;
    for (const [i, each] of before.entries()) {
      awaitStep(clinic, each, appointment);
      await mustCall(clinic, each, { appointmentId, expectedVersion: i + 1 });
    }
    const request = { appointmentId, expectedVersion: before.length + 1 };
    awaitStep(clinic, rpc, appointment);
    expect(await sentBy(rpc, request)).toMatchObject({ locked: ["idempotency_keys", ...locked] });
  });

  test.each([
    ["CancelAppointment", "cancellationReasonId", fixtures.cancellationReason],
    ["MarkAppointmentNoShow", "noShowReasonId", fixtures.noShowReason],
  ] as const)("%s", async (rpc, field, reason) => {
    const appointment = await bookFirst(clinic, patientId);
    const { appointmentId } = appointment;
    await mustCall(clinic, "ConfirmAppointment", { appointmentId, expectedVersion: 1 });
    const request = { appointmentId, expectedVersion: 2, [field]: await reason.create(service, {}) };
    awaitStep(clinic, rpc, appointment);
    expect(await sentBy(rpc, request)).toMatchObject({
      locked: ["idempotency_keys", "appointments", "slots", "day_counters"],
    });
  });

  test("CorrectAppointmentStatus, which occupies the time of a no-show again", async () => {
    const appointment = await bookFirst(clinic, patientId);
    const { appointmentId } = appointment;
    awaitStep(clinic, "MarkAppointmentNoShow", appointment);
    const noShowReasonId = await fixtures.noShowReason.create(service, {});
    await mustCall(clinic, "MarkAppointmentNoShow", { appointmentId, expectedVersion: 1, noShowReasonId });
    const request = { appointmentId, expectedVersion: 2, status: "CONFIRMED", reason: "Llegó a tiempo." };
    expect(await sentBy("CorrectAppointmentStatus", request)).toMatchObject({
      locked: [
        "idempotency_keys",
        "calendars",
        "programs",
        "patients",
        "appointments",
        "slots",
        "practitioners",
        "day_counters",
      ],
    });
  });

  test("MergePatients, which locks both patients, then the waitlist entries, then the appointments, each by id", async () => {
    const duplicatePatientId = await fixtures.createPatient(service);
    for (const days of [2, 3])
      await bookFirst(clinic, duplicatePatientId, { dateFrom: day(clinic, days), dateTo: day(clinic, days) });
    const versions = { survivorExpectedVersion: 1, duplicateExpectedVersion: 1 };
    const request = { survivorPatientId: patientId, duplicatePatientId, ...versions, reason: "Dos registros" };
    const sent = await send("MergePatients", request);
    expect(lockSummary(sent)).toEqual({
      locked: ["idempotency_keys", "patients", "waitlist_entries", "appointments", "appointment_holds"],
      trips: 3,
    });
    const locks = sent.map(({ text }) => text).filter((text) => / for (no key )?update$/.test(text));
    expect(locks).toEqual([
      expect.stringMatching(/"patients" .* order by "id" asc for update$/),
      expect.stringMatching(/"waitlist_entries" .* order by "id" asc for no key update$/),
      expect.stringMatching(/"appointments" .* order by "id" asc for no key update$/),
      expect.stringMatching(/"appointment_holds" .* order by "id" asc for no key update$/),
    ]);
  });

  test("ErasePatient, which locks all records of the person, then waitlist entries, appointments, holds and cases, each by id", async () => {
    await deskFixtures(service).entry({ patientId, serviceId: clinic.serviceId });
    const sent = await send("ErasePatient", { patientId, expectedVersion: 1, reason: "Radicado 7" });
    const { locked } = lockSummary(sent);
    expect(locked).toEqual(["idempotency_keys", "patients", "waitlist_entries", "appointments", "appointment_holds"]);
    const locks = sent.map(({ text }) => text).filter((text) => / for (no key )?update$/.test(text));
    expect(locks).toEqual([
      expect.stringMatching(/"patients" .* order by "id" asc for update$/s),
      expect.stringMatching(/"waitlist_entries" .* order by "id" asc for no key update$/),
      expect.stringMatching(/"appointments" .* order by "id" asc for no key update$/),
      expect.stringMatching(/"appointment_holds" .* order by "id" asc for no key update$/),
      expect.stringMatching(/"user_attention_cases" .* order by "id" asc for no key update$/s),
    ]);
  });

  test.each<[string, () => JsonObject]>([
    ["UpdateProgramRule", () => ({ ...ruleOf(clinic), expectedVersion: 1, startsAtLocal: "09:00:00" })],
    ["ReplaceProgramPractitioners", () => ({ ...programOf(clinic), practitionerIds: [], expectedVersion: 2 })],
    ["MaterializeSchedule", () => programOf(clinic)],
    ["CreateHoliday", () => ({ date: day(clinic, 5), name: "Fiesta", active: true })],
    ["CreateScheduleBlock", () => ({ ...programOf(clinic), kind: "OTHER", ...dayOf(clinic) })],
    ["UpdateProgram", () => ({ ...programOf(clinic), active: false, expectedVersion: 1 })],
  ])("%s, which withdraws slots", async (rpc, request) => {
    const sent = await send(rpc, request());
    expect(lockSummary(sent).locked).toEqual(["idempotency_keys", "calendars", "programs", "slots"]);
    expect(slotLocks(sent)).toEqual([expect.stringMatching(/ORDER BY id FOR UPDATE/)]);
  });

  test("UpdateProgram, which moves the program to another location", async () => {
    const request = {
      ...programOf(clinic),
      locationId: await fixtures.location.create(service, {}),
      expectedVersion: 1,
    };
    const { locked } = await sentBy("UpdateProgram", request);
    expect(locked).toEqual(["idempotency_keys", "calendars", "programs", "slots"]);
  });

  test("UpdateLocation, which withdraws slots", async () => {
    const { program } = await mustCall(clinic, "GetProgram", programOf(clinic));
    const { locationId = "" } = program as { readonly locationId?: string };
    const { locked } = await sentBy("UpdateLocation", { locationId, active: false, expectedVersion: 1 });
    expect(locked).toEqual(["idempotency_keys", "calendars", "programs", "slots"]);
  });
});

describe("locks in the one order, slots before practitioners", () => {
  test("UpdatePractitioner, which withdraws slots", async () => {
    const request = { practitionerId: `${clinic.practitionerIds[0]}`, active: false, expectedVersion: 1 };
    const { locked } = await sentBy("UpdatePractitioner", request);
    expect(locked).toEqual(["idempotency_keys", "calendars", "programs", "slots", "practitioners"]);
  });

  test("SubstitutePractitioner, which locks the rows of all appointments table by table", async () => {
    const practitionerId = await fixtures.practitioner.create(service, {});
    const practitionerIds = [...clinic.practitionerIds, practitionerId];
    await mustCall(clinic, "ReplaceProgramPractitioners", {
      ...programOf(clinic),
      practitionerIds,
      expectedVersion: 2,
    });
    const expecting = { practitionerId: `${clinic.practitionerIds[0]}` };
    const booked = [];
    for (const id of [patientId, await fixtures.createPatient(service)])
      booked.push(await bookFirst(clinic, id, expecting));
    await mustCall(clinic, "CreateScheduleBlock", { ...expecting, kind: "ILLNESS", ...dayOf(clinic) });
    const choices = booked.map(({ appointmentId }) => ({ appointmentId, expectedVersion: 1 }));
    const sent = await send("SubstitutePractitioner", { practitionerId, choices });
    expect(lockSummary(sent).locked).toEqual([
      "idempotency_keys",
      "patients",
      "appointments",
      "slots",
      "practitioners",
      "day_counters",
    ]);
    expect(slotLocks(sent)).toEqual([expect.stringMatching(/ order by "id" asc for no key update$/)]);
  });
});

describe("a transaction against the lock order is detected:", () => {
  test.each([
    [["appointments", "patients"]],
    [["slots", "consumed_option_tokens"]],
    [["slots", "programs"]],
    [["day_counters", "slots"]],
  ])("%o", (tables) => {
    const texts = tables.map((table) => `select "id" from "${table}" for no key update`);
    expect(() => lockSummary(texts.map((text) => ({ text, values: [], connection: 1, flight: 1 })))).toThrow("order");
  });
});

/** Returns a block over the days on which these tests book. */
function dayOf({ service: { now } }: Pick<Clinic, "service">) {
  return {
    startsAt: new Date(now() + 86_400_000).toISOString(),
    endsAt: new Date(now() + 4 * 86_400_000).toISOString(),
  };
}

/** Calls an RPC that must succeed. Returns the statements that the service sent. */
async function send(rpc: string, request: JsonObject): Promise<readonly SentStatement[]> {
  takeSent();
  await mustCall(clinic, rpc, request);
  return takeSent();
}

async function sentBy(rpc: string, request: JsonObject) {
  return lockSummary(await send(rpc, request));
}

function programOf({ programId }: Clinic): JsonObject {
  return { programId };
}

function ruleOf({ programId, ruleId }: Clinic): JsonObject {
  return { programId, ruleId };
}
