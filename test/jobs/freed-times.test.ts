import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { choicesOf, outcomesOf } from "../operations-clinic/displaced-fixtures.js";
import { holdFirst } from "../operations-clinic/hold-requests.js";
import { type BookedBody, bookedIn, seriesOf } from "../operations-clinic/series-requests.js";
import { at, timedBooking } from "../operations-clinic/timed-bookings.js";
import { type AppointmentBody, bookFirst, type Clinic, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { runExtensions } from "../schedule/run-extensions.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";
import { freeSlot, offersOf, onlyOffer, openOfferingClinic, runOffers, wait } from "./offers-under-test.js";
import { cancel, MINUTE_MS, moveTo, newPatient } from "./time-events-under-test.js";

const DAY_MINUTES = 1_440;

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await closeConsistent(service, foundByTheService);
});

beforeEach(() => service.stopAt(service.now() + MINUTE_MS));

describe("a time of a practitioner is offered after", () => {
  test.each<[what: string, free: (clinic: Clinic) => Promise<unknown>, time: string]>([
    ["a cancellation", async (clinic) => cancel(clinic, await bookAt(clinic)), "08:00"],
    ["a cancellation, but not the slot before it", async (clinic) => cancel(clinic, await bookLater(clinic)), "08:30"],
    ["a move", async (clinic) => moveTo(clinic, await bookAt(clinic), day(clinic, 3)), "08:00"],
    ["a shorter visit", shorten, "08:30"],
    ["a swap of practitioners", swap, "08:00"],
    ["a substitution, in another program of the practitioner", substitute, "08:00"],
    ["a cancellation in another program of the practitioner", cancelElsewhere, "08:00"],
    ["a cancellation of an overbooked appointment", cancelOverbooked, "08:00"],
    ["a shorter visit of an overbooked appointment", shortenOverbooked, "08:30"],
    ["a cancellation of a series", cancelSeries, "08:00"],
    ["a move of a series", moveSeries, "08:00"],
  ])("%s", async (_, free, time) => {
    const clinic = await openOfferingClinic(service, async (as) => ({
      practitionerIds: [
        await fixtures.practitioner.create(service, as),
        await fixtures.practitioner.create(service, as),
      ],
    }));
    const practitionerId = `${clinic.practitionerIds[0]}`;
    const { waitlistEntryId } = await wait(clinic, { practitionerId, dateTo: day(clinic, 2) });
    await free(clinic);
    expect(await run(clinic)).toBe(1);
    const offer = await onlyOffer(clinic);
    expect(offer).toMatchObject({ waitlistEntryId, practitionerId });
    expect(Date.parse(offer.startsAt)).toBe(Date.parse(at(clinic, time)));
  });
});

describe("a freed slot", () => {
  let clinic: Clinic;

  beforeEach(async () => {
    clinic = await openOfferingClinic(service);
  });

  test("is forgotten if its program is booked earlier", async () => {
    await wait(clinic);
    await setWindow(clinic, { minimumNoticeMinutes: DAY_MINUTES });
    const { startsAt } = await freeSlot(clinic);
    service.stopAt(Date.parse(startsAt) - DAY_MINUTES * MINUTE_MS + 1);
    expect(await run(clinic)).toBe(0);
    expect(await dueOf(clinic)).toEqual([]);
  });

  test("is offered although a suspended tenant has as many due slots as a run looks at", async () => {
    await wait(clinic);
    await freeSlot(clinic);
    await service.query(`UPDATE freed_slots SET due_at = '2000-01-01' WHERE tenant_id = '${clinic.as.tenantId}'`);
    const tenantId = randomUUID();
    await service.query(`INSERT INTO tenants (tenant_id, display_name, state, version, created_at, updated_at, suspended_at)
      VALUES ('${tenantId}', 'Andina', 'SUSPENDED', 1, now(), now(), now())`);
    await service.query(`INSERT INTO freed_slots (tenant_id, slot_id, practitioner_id, starts_at, due_at)
      SELECT '${tenantId}', gen_random_uuid(), gen_random_uuid(), now(), '-infinity' FROM generate_series(1, 1000)`);
    expect(await run(clinic)).toBe(1);
  });

  test("is offered until the notice of its program begins", async () => {
    await wait(clinic);
    await setWindow(clinic, { minimumNoticeMinutes: DAY_MINUTES });
    const { startsAt } = await freeSlot(clinic);
    service.stopAt(Date.parse(startsAt) - DAY_MINUTES * MINUTE_MS);
    expect(await run(clinic)).toBe(1);
  });

  test("after the horizon of its program is offered when the horizon reaches it", async () => {
    await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    await setWindow(clinic, { horizonDays: 1 });
    expect(await run(clinic)).toBe(0);
    const tomorrow = Date.parse(`${day(clinic, 1)}T00:00:00-05:00`);
    expect(await dueOf(clinic)).toEqual([tomorrow]);
    service.stopAt(tomorrow);
    expect(await run(clinic)).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ startsAt });
  });

  test("that a change of the rules was not yet applied to is offered once a job has applied it", async () => {
    await setWindow(clinic, { horizonDays: 200 });
    const { programId, ruleId } = clinic;
    const change = async (expectedVersion: number, attributes: JsonObject) =>
      mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion, ...attributes });
    await change(1, { validTo: day(clinic, 300) });
    await runExtensions(service, clinic.as.tenantId);
    const far = { dateFrom: day(clinic, 150), dateTo: day(clinic, 150) };
    await wait(clinic, far);
    const freed = await bookFirst(clinic, await newPatient(clinic), far);
    await change(2, { endsAtLocal: "11:00" });
    await cancel(clinic, freed);
    expect(await run(clinic)).toBe(0);
    await runExtensions(service, clinic.as.tenantId);
    expect(await run(clinic)).toBe(0);
    service.stopAt(service.now() + MINUTE_MS);
    expect(await run(clinic)).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ startsAt: freed.startsAt });
  });

  test("is the only one that is offered, not the free one after it", async () => {
    await wait(clinic);
    await wait(clinic);
    await cancel(clinic, await bookAt(clinic));
    expect(await run(clinic)).toBe(1);
    expect(await dueOf(clinic)).toHaveLength(1);
  });

  test("that no further entry wants is due at its start, and then forgotten", async () => {
    await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    await run(clinic);
    service.stopAt(Date.parse((await onlyOffer(clinic)).expiresAt));
    expect(await run(clinic)).toBe(0);
    expect(await dueOf(clinic)).toEqual([Date.parse(startsAt)]);
    service.stopAt(Date.parse(startsAt));
    expect(await run(clinic)).toBe(0);
    expect(await dueOf(clinic)).toEqual([]);
  });

  test("is due no earlier when a hold of the slot before it ends", async () => {
    await wait(clinic);
    const later = await bookLater(clinic);
    await cancel(clinic, later);
    expect(await run(clinic)).toBe(1);
    const due = await dueOf(clinic);
    const { holdId, endsAt } = await holdFirst(clinic);
    expect(endsAt).toBe(later.startsAt);
    await mustCall(clinic, "ReleaseHold", { holdId });
    expect(await dueOf(clinic)).toEqual(due);
  });

  test("is offered as soon as a hold that begins during it, in another program of the practitioner, is released", async () => {
    await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    const { as, practitionerIds } = clinic;
    const elsewhere = await openClinic(service, { as, practitionerIds, rule: { slotDurationMinutes: 20 } });
    const held = await holdFirst(elsewhere, {}, 1);
    expect([await run(clinic), await dueOf(clinic)]).toEqual([0, [Date.parse(held.expiresAt)]]);
    await mustCall(elsewhere, "ReleaseHold", { holdId: held.holdId });
    expect(await run(clinic)).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ startsAt });
  });

  test("that is booked again is due when it begins, and one that a client holds is due when the hold expires", async () => {
    await wait(clinic);
    const { startsAt } = await freeSlot(clinic);
    const held = await holdFirst(clinic);
    expect([await run(clinic), await dueOf(clinic)]).toEqual([0, [Date.parse(held.expiresAt)]]);
    service.stopAt(Date.parse(held.expiresAt));
    await bookAt(clinic);
    expect([await run(clinic), await dueOf(clinic)]).toEqual([0, [Date.parse(startsAt)]]);
  });

  test("is offered to a patient who has reached a limit of the tenant, which counts when the offer is booked", async () => {
    const { patientId } = await wait(clinic);
    await mustCall(clinic, "UpdateTenantSettings", { maxAppointmentsAhead: 1, expectedVersion: 2 });
    await bookAt(clinic, "BookAppointmentAt", { patientId, startsAt: `${day(clinic, 4)}T08:00:00-05:00` });
    await freeSlot(clinic);
    expect(await run(clinic)).toBe(1);
    expect(await onlyOffer(clinic)).toMatchObject({ patientId });
  });

  test("waits while a hold has the last unit of its day", async () => {
    const small = await openOfferingClinic(service, async () => ({ rule: { dailyCapacity: 1 } }));
    await wait(small);
    const { startsAt } = await freeSlot(small);
    const held = await holdFirst(small, { dateFrom: day(small, 2), dateTo: day(small, 2) }, 3);
    expect(await run(small)).toBe(0);
    service.stopAt(Date.parse(held.expiresAt));
    expect(await run(small)).toBe(1);
    expect(await offersOf(small)).toMatchObject([{ startsAt }]);
  });
});

function run(clinic: Clinic): Promise<number> {
  return runOffers(database, clinic);
}

/** Books some minutes of the first practitioner from 8:00 on. */
async function bookAt(clinic: Clinic, rpc = "BookAppointmentAt", changes = {}): Promise<AppointmentBody> {
  const { appointment } = await mustCall(clinic, rpc, await timedBooking(clinic, changes));
  return appointment as unknown as AppointmentBody;
}

function bookLater(clinic: Clinic): Promise<AppointmentBody> {
  return bookAt(clinic, "BookAppointmentAt", { startsAt: at(clinic, "08:30") });
}

async function changeMinutes(clinic: Clinic, { appointmentId }: AppointmentBody, durationMinutes: number) {
  await mustCall(clinic, "ChangeAppointment", { appointmentId, expectedVersion: 1, durationMinutes });
}

async function shorten(clinic: Clinic): Promise<void> {
  await changeMinutes(clinic, await bookAt(clinic, "BookAppointmentAt", { durationMinutes: 60 }), 30);
}

async function cancelOverbooked(clinic: Clinic): Promise<void> {
  await cancel(clinic, await bookAt(clinic, "OverbookAppointment", { reason: "Urgencia.", durationMinutes: 30 }));
}

async function shortenOverbooked(clinic: Clinic): Promise<void> {
  const booked = await bookAt(clinic, "OverbookAppointment", { reason: "Urgencia.", durationMinutes: 60 });
  await changeMinutes(clinic, booked, 30);
}

async function cancelSeries(clinic: Clinic): Promise<void> {
  const { seriesId } = await bookSeries(clinic);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
  await mustCall(clinic, "CancelSeries", { seriesId, cancellationReasonId });
}

async function moveSeries(clinic: Clinic): Promise<void> {
  const { seriesId, appointments } = await bookSeries(clinic);
  const move = { seriesId, fromAppointmentId: `${appointments[0]?.appointmentId}`, expectedVersion: 1 };
  await mustCall(clinic, "MoveSeries", { ...move, startsAt: at(clinic, "10:00") });
}

async function bookSeries(clinic: Clinic): Promise<BookedBody> {
  return bookedIn(await call(clinic, "BookSeries", await seriesOf(clinic)));
}

async function swap(clinic: Clinic): Promise<void> {
  await bookAt(clinic);
  const { programId, practitionerIds } = clinic;
  const [practitionerId, otherPractitionerId] = practitionerIds.map(String);
  const span = { startsAt: at(clinic, "08:00"), endsAt: at(clinic, "09:00") };
  await mustCall(clinic, "SwapPractitioners", {
    programId,
    practitionerId: `${practitionerId}`,
    otherPractitionerId: `${otherPractitionerId}`,
    ...span,
  });
}

/** Opens a program of another service with the same practitioners. */
function openElsewhere({ as, practitionerIds }: Clinic): Promise<Clinic> {
  return openClinic(service, { as, practitionerIds });
}

async function cancelElsewhere(clinic: Clinic): Promise<void> {
  const elsewhere = await openElsewhere(clinic);
  await cancel(elsewhere, await bookAt(elsewhere));
}

/** The appointment of another program is displaced, because the practitioner leaves that program. */
async function substitute(clinic: Clinic): Promise<void> {
  const elsewhere = await openElsewhere(clinic);
  const { appointmentId } = await bookAt(elsewhere);
  const { programId } = elsewhere;
  const practitionerId = `${clinic.practitionerIds[1]}`;
  const practitioners = { practitionerIds: [practitionerId], expectedVersion: 2 };
  await mustCall(elsewhere, "ReplaceProgramPractitioners", { programId, ...practitioners });
  const choices = choicesOf([appointmentId]);
  const [outcome] = await outcomesOf(elsewhere, "SubstitutePractitioner", { practitionerId, choices });
  expect(outcome?.appointment).toMatchObject({ practitionerId });
}

async function setWindow({ programId, ...clinic }: Clinic, window: object): Promise<void> {
  await mustCall(clinic, "UpdateProgramWindow", { programId, expectedVersion: 1, ...window });
}

/** Returns when the freed slots of the clinic are due, in milliseconds since the epoch. */
async function dueOf({ as }: Clinic): Promise<readonly number[]> {
  const rows = await service.query(`SELECT due_at FROM freed_slots WHERE tenant_id = '${as.tenantId}'`);
  return rows.map((row) => (row["due_at"] as Date).getTime());
}
