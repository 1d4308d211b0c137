import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import { holdFirst } from "../operations-clinic/hold-requests.js";
import { createResource, healthcareService } from "../operations-clinic/resources-under-test.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { mustBlock, mustChange } from "../operations-clinic/schedule-block-fixtures.js";
import { book, bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  freeSlot,
  lapse,
  OFFER_MINUTES,
  offerFor,
  offersOf,
  onlyOffer,
  openOfferingClinic,
  runOffers,
  wait,
} from "./offers-under-test.js";
import {
  cancel,
  holdRow,
  MINUTE_MS,
  moveTo,
  newPatient,
  newTenant,
  WAITING,
  waitingForLock,
} from "./time-events-under-test.js";

let service: TestService;
let database: Database;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await closeConsistent(service, foundByTheService);
});

beforeEach(async () => {
  service.stopAt(service.now() + MINUTE_MS);
  clinic = await openOfferingClinic(service);
});

describe("a freed slot", () => {
  test("is held for the patient of the waitlist entry, for the minutes of the setting", async () => {
    const { waitlistEntryId, patientId } = await wait(clinic);
    const { startsAt, practitionerId } = await freeSlot(clinic);
    expect(await run()).toBe(1);
    const expiresAt = new Date(service.now() + OFFER_MINUTES * MINUTE_MS).toISOString().replace(".000Z", "Z");
    expect(await onlyOffer(clinic)).toMatchObject({ waitlistEntryId, patientId, startsAt, practitionerId, expiresAt });
    expect(await offersOf(clinic, { waitlistEntryId })).toHaveLength(1);
    expect(await offersOf(clinic, { waitlistEntryId: patientId })).toEqual([]);
    expect((await optionsFor(clinic, { patientId: await newPatient(clinic) }))[0]?.startsAt).not.toBe(startsAt);
  });

  test("assigns nothing: the entry stays open, and no appointment is booked", async () => {
    const { waitlistEntryId, patientId } = await wait(clinic);
    await freeSlot(clinic);
    await run();
    const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ status: "ACTIVE", version: 1 });
    expect((await mustCall(clinic, "ListAppointments", { patientId }))["appointments"] ?? []).toEqual([]);
  });

  test("is an event of the entry, after that of its hold, with ids only", async () => {
    const { waitlistEntryId } = await wait(clinic);
    await freeSlot(clinic);
    await run();
    const { events } = await mustCall(clinic, "ListEvents", { pageSize: 200 });
    const { holdId } = await onlyOffer(clinic);
    expect((events as object[]).slice(-2)).toMatchObject([
      { type: "cupo.appointment_hold.created", subject: `appointment_hold/${holdId}` },
      { type: "cupo.waitlist_entry.offered", subject: `waitlist_entry/${waitlistEntryId}`, resourceVersion: 1 },
    ]);
  });

  test("is booked with the token of the offer, which closes the entry", async () => {
    const { waitlistEntryId, patientId } = await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    await run();
    const { optionToken, holdId } = await onlyOffer(clinic);
    const answer = await book(clinic, patientId, optionToken, { waitlistEntryId });
    expect(answer.body["appointment"]).toMatchObject({ startsAt, patientId });
    const { waitlistEntry } = await mustCall(clinic, "GetWaitlistEntry", { waitlistEntryId });
    expect(waitlistEntry).toMatchObject({ status: "CLOSED" });
    expect((await mustCall(clinic, "GetHold", { holdId }))["hold"]).not.toHaveProperty("optionToken");
    service.stopAt(service.now() + OFFER_MINUTES * MINUTE_MS);
    expect(await run()).toBe(0);
  });

  test("is not offered if the tenant has not set it, or no longer does", async () => {
    const quiet = await openClinic(service, { as: newTenant() });
    await wait(quiet);
    await freeSlot(quiet);
    await wait(clinic);
    await freeSlot(clinic);
    await offerFor(clinic, undefined, 2);
    expect(await run()).toBe(0);
    expect([await offersOf(quiet), await offersOf(clinic)]).toEqual([[], []]);
  });

  test("is not offered if the offer would end less than an hour before it", async () => {
    await wait(clinic);
    const late = await bookFirst(clinic, await newPatient(clinic));
    const inTime = await bookFirst(clinic, await newPatient(clinic));
    service.stopAt(Date.parse(inTime.startsAt) - (60 + OFFER_MINUTES) * MINUTE_MS);
    await cancel(clinic, late);
    expect(await run()).toBe(0);
    await cancel(clinic, inTime);
    expect(await run()).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ startsAt: inTime.startsAt });
  });

  test("of an emergency program is not offered", async () => {
    await wait(clinic);
    await freeSlot(clinic);
    await mustCall(clinic, "UpdateProgram", { programId: clinic.programId, emergency: true, expectedVersion: 1 });
    expect(await run()).toBe(0);
    expect(await offersOf(clinic)).toEqual([]);
  });

  test("for which no entry was found is not offered to a later entry, even after a hold of the slot ends", async () => {
    const { startsAt } = await freeSlot(clinic);
    expect(await run()).toBe(0);
    await wait(clinic);
    expect(await run()).toBe(0);
    const held = await holdFirst(clinic);
    expect(held.startsAt).toBe(startsAt);
    await mustCall(clinic, "ReleaseHold", { holdId: held.holdId });
    expect(await run()).toBe(0);
  });

  test("of a moved appointment is offered, and of a booked one is not", async () => {
    await wait(clinic);
    const moved = await bookFirst(clinic, await newPatient(clinic));
    await moveTo(clinic, moved, day(clinic, 3));
    const { startsAt } = moved;
    const cancelled = await freeSlot(clinic);
    expect(cancelled.startsAt).toBe(startsAt);
    await bookFirst(clinic, await newPatient(clinic));
    expect(await run()).toBe(0);
  });
});

describe("the next entry", () => {
  test("is offered the slot when the offer lapses, and no entry twice", async () => {
    const [first, second] = [await wait(clinic), await wait(clinic)];
    await freeSlot(clinic);
    await run();
    const offered = await onlyOffer(clinic);
    expect(offered.waitlistEntryId).toBe(first.waitlistEntryId);
    service.stopAt(Date.parse(offered.expiresAt) - 1);
    expect(await run()).toBe(0);
    lapse(clinic, offered);
    expect(await run()).toBe(1);
    const next = await onlyOffer(clinic);
    expect(next.waitlistEntryId).toBe(second.waitlistEntryId);
    expectRefusal(await book(clinic, first.patientId, offered.optionToken), 410);
    lapse(clinic, next);
    expect(await run()).toBe(0);
    expect(await offersOf(clinic)).toEqual([]);
  });

  test("is never one that was offered the slot before, even if the slot was blocked in between", async () => {
    await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    await run();
    lapse(clinic, await onlyOffer(clinic));
    const booked = await bookFirst(clinic, await newPatient(clinic));
    expect(booked.startsAt).toBe(startsAt);
    const { scheduleBlock } = await mustBlock(clinic, { programId: clinic.programId, startsAt, endsAt: booked.endsAt });
    expect(await run()).toBe(0);
    const block = { scheduleBlockId: scheduleBlock.scheduleBlockId, expectedVersion: scheduleBlock.version };
    await mustChange(clinic, "CancelScheduleBlock", block);
    await cancel(clinic, booked);
    expect(await run()).toBe(0);
    const { waitlistEntryId } = await wait(clinic);
    await freeSlot(clinic);
    expect(await run()).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ waitlistEntryId, startsAt });
  });

  test("is offered the slot as soon as the offer is released", async () => {
    const [, second] = [await wait(clinic), await wait(clinic)];
    await freeSlot(clinic);
    await run();
    await mustCall(clinic, "ReleaseHold", { holdId: (await onlyOffer(clinic)).holdId });
    expect(await run()).toBe(1);
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(second.waitlistEntryId);
  });

  test("waits while a client holds the slot, until that hold ends", async () => {
    await wait(clinic);
    await freeSlot(clinic);
    const [option] = await optionsFor(clinic, { patientId: await newPatient(clinic) });
    const { hold } = await mustCall(clinic, "HoldAppointmentOption", { optionToken: `${option?.optionToken}` });
    expect(await run()).toBe(0);
    await mustCall(clinic, "ReleaseHold", { holdId: (hold as { holdId: string }).holdId });
    expect(await run()).toBe(1);
  });

  test("is skipped if the patient has three holds, is busy then, or is not active", async () => {
    const holding = await wait(clinic);
    for (const skip of [1, 2, 3]) {
      const options = await optionsFor(clinic, {
        patientId: holding.patientId,
        dateFrom: day(clinic, 4),
        dateTo: day(clinic, 4),
      });
      await mustCall(clinic, "HoldAppointmentOption", { optionToken: `${options[skip]?.optionToken}`, minutes: 10 });
    }
    const inactive = await wait(clinic);
    const status = { patientId: inactive.patientId, status: "INACTIVE", expectedVersion: 1 };
    await mustCall(clinic, "SetPatientStatus", status);
    const busy = await wait(clinic);
    await bookFirst(await openClinic(service, { as: clinic.as }), busy.patientId);
    const last = await wait(clinic);
    await freeSlot(clinic);
    await run();
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(last.waitlistEntryId);
  });

  test("is skipped if its service is no longer active", async () => {
    const serviceId = (await createResource(service, healthcareService, {}, clinic.as)).id;
    const serviceIds = [clinic.serviceId, serviceId];
    await mustCall(clinic, "ReplaceProgramServices", { programId: clinic.programId, serviceIds, expectedVersion: 2 });
    await wait(clinic, { serviceId });
    await mustCall(clinic, "UpdateHealthcareService", { serviceId, active: false, expectedVersion: 1 });
    const { waitlistEntryId } = await wait(clinic);
    await freeSlot(clinic);
    expect(await run()).toBe(1);
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(waitlistEntryId);
  });

  test("is by the wish that is closer to the slot, if two were added on the two sides of midnight in UTC", async () => {
    service.stopAt(Date.parse(`${day(clinic, 1)}T18:59:00-05:00`));
    await wait(clinic, { dateFrom: day(clinic, 0) });
    const { waitlistEntryId } = await wait(clinic, { dateFrom: day(clinic, 2) });
    await freeSlot(clinic);
    expect(await run()).toBe(1);
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(waitlistEntryId);
  });

  test.each([
    ["its dates", () => ({ dateFrom: day(clinic, 3) })],
    ["its periods", () => ({ preferredPeriods: ["EVENING", "NIGHT"] })],
  ])("must suit the slot by %s", async (_, changes) => {
    await wait(clinic, changes());
    await freeSlot(clinic);
    expect(await run()).toBe(0);
  });

  test("must want the service, practitioner and location of the slot", async () => {
    const other = await openOfferingClinic(service);
    await wait(other);
    await freeSlot(clinic);
    expect(await run()).toBe(0);
    const wanting = await wait(clinic, { practitionerId: `${clinic.practitionerIds[0]}` });
    await freeSlot(clinic);
    expect(await run()).toBe(1);
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(wanting.waitlistEntryId);
  });
});

describe("several workers", () => {
  test("offer a slot once", async () => {
    for (let i = 0; i < 4; i++) await wait(clinic);
    await freeSlot(clinic);
    const offered = await Promise.all([run(), run(), run(), run()]);
    expect(offered.reduce((sum, count) => sum + count)).toBe(1);
    expect(await offersOf(clinic)).toHaveLength(1);
  });

  test("go on if one of them dies before it commits", async () => {
    const { waitlistEntryId } = await wait(clinic);
    await freeSlot(clinic);
    const holder = await holdRow(clinic, "waitlist_entries", waitlistEntryId);
    const dying = expect(run()).rejects.toThrow();
    await waitingForLock(service);
    await service.query(`SELECT pg_terminate_backend(pid) ${WAITING}`);
    await dying;
    await holder.query("ROLLBACK");
    expect(await offersOf(clinic)).toEqual([]);
    expect(await run()).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ waitlistEntryId });
  });

  test("offer nothing to an entry that is closed meanwhile, and then the slot to the next", async () => {
    const [first, second] = [await wait(clinic), await wait(clinic)];
    await freeSlot(clinic);
    const holder = await holdRow(clinic, "waitlist_entries", first.waitlistEntryId);
    const offering = run();
    await waitingForLock(service);
    await holder.query(
      `UPDATE waitlist_entries SET closed_at = now(), closed_by = 'x', close_reason = ''
       WHERE id = '${first.waitlistEntryId}'; COMMIT`,
    );
    expect(await offering).toBe(0);
    expect(await run()).toBe(1);
    expect((await onlyOffer(clinic)).waitlistEntryId).toBe(second.waitlistEntryId);
  });
});

function run(): Promise<number> {
  return runOffers(database, clinic);
}
