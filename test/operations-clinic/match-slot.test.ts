import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { locationOf } from "./displaced-fixtures.js";
import { holdFirst } from "./hold-requests.js";
import { mustBlock } from "./schedule-block-fixtures.js";
import { at, timedBooking } from "./timed-bookings.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("MatchSlot", () => {
  test("returns the entries that wish the date, period, location and practitioner of the slot, oldest first, on pages", async () => {
    const { clinic, wait } = await openWaiting();
    const locationId = await locationOf(clinic);
    const practitionerId = `${clinic.practitionerIds[0]}`;
    const fitting = [await wait(), await wait({ locationId }), await wait({ practitionerId, locationId })];
    const tomorrow = { dateFrom: day(clinic, 1), dateTo: day(clinic, 1) };
    const other = deskFixtures(service, clinic.as);
    await wait(tomorrow);
    await wait({ preferredPeriods: ["AFTERNOON", "EVENING", "NIGHT"] });
    await wait({ locationId: await other.location() });
    await wait({ practitionerId: await other.practitioner() });
    await wait({ serviceId: await other.healthcareService() });
    expect(await matches(clinic)).toEqual(fitting);
  });

  test("leaves out closed entries, and patients who are not active or not free", async () => {
    const { clinic, wait } = await openWaiting();
    const [elsewhere, third] = [
      await openClinic(service, { as: clinic.as }),
      await openClinic(service, { as: clinic.as }),
    ];
    const people = await Promise.all([0, 1, 2, 3].map(() => fixtures.createPatient(service, {}, clinic.as)));
    const [inactive, busy, holding, free] = people;
    const ids: string[] = [];
    for (const patientId of people) ids.push(await wait({ patientId }));
    const closing = { waitlistEntryId: await wait(), expectedVersion: 1, reason: "Atendida." };
    await mustCall(clinic, "CloseWaitlistEntry", closing);
    await mustCall(clinic, "SetPatientStatus", { patientId: `${inactive}`, status: "INACTIVE", expectedVersion: 1 });
    await bookFirst(elsewhere, `${busy}`);
    await holdFirst(third, { patientId: `${holding}` });
    expect(await matches(clinic)).toEqual([ids[people.indexOf(free ?? "")]]);
  });

  test("leaves out wishes for the service or the location of another program", async () => {
    const { clinic, wait } = await openWaiting();
    const elsewhere = await openClinic(service, { as: clinic.as });
    await wait({ serviceId: elsewhere.serviceId });
    await wait({ locationId: await locationOf(elsewhere) });
    const id = await wait();
    expect(await matches(clinic)).toEqual([id]);
  });

  test("leaves out wishes for a service that is no longer active", async () => {
    const { clinic, wait } = await openWaiting();
    await openClinic(service, { as: clinic.as });
    const id = await wait();
    expect(await matches(clinic)).toEqual([id]);
    const { serviceId } = clinic;
    await mustCall(clinic, "UpdateHealthcareService", { serviceId, active: false, expectedVersion: 1 });
    expect(await matches(clinic)).toEqual([]);
  });

  test("knows a slot that is booked, and none that the schedule does not have", async () => {
    const { clinic, wait } = await openWaiting();
    const id = await wait();
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    expect(await matches(clinic)).toEqual([id]);
    for (const startsAt of [at(clinic, "08:10"), "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
      expect(await matches(clinic, { startsAt })).toEqual([]);
  });

  test("knows no slot that exists only for an overbooked or a displaced appointment", async () => {
    const { clinic, wait } = await openWaiting();
    const id = await wait();
    const startsAt = at(clinic, "07:00");
    const beside = await timedBooking(clinic, { startsAt, reason: "Viene de lejos." });
    await mustCall(clinic, "OverbookAppointment", beside);
    expect(await matches(clinic, { startsAt })).toEqual([]);
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    expect(await matches(clinic)).toEqual([id]);
    await mustBlock(clinic, { programId: clinic.programId });
    expect(await matches(clinic)).toEqual([]);
  });
});

/** Opens a clinic in a new tenant. `wait` records an entry for the morning of the day after tomorrow. */
async function openWaiting() {
  const clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  const wish = { serviceId: clinic.serviceId, dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  const wait = (changes: JsonObject = {}) => deskFixtures(service, clinic.as).entry({ ...wish, ...changes });
  return { clinic, wait };
}

/** Returns the ids of all pages of entries for the slot at 8:00 of the day after tomorrow. */
async function matches(clinic: Clinic, changes: JsonObject = {}): Promise<unknown[]> {
  const request = { ...slotOf(clinic), startsAt: at(clinic, "08:00"), ...changes };
  const ids: unknown[] = [];
  for (let pageToken = ""; ; ) {
    const page = await mustCall(clinic, "MatchSlot", { ...request, pageSize: 1, pageToken });
    ids.push(...(page["waitlistEntries"] as JsonObject[]).map(({ waitlistEntryId }) => waitlistEntryId));
    pageToken = (page as { nextPageToken?: string }).nextPageToken ?? "";
    if (pageToken === "") return ids;
  }
}

function slotOf({ programId, practitionerIds }: Pick<Clinic, "programId" | "practitionerIds">): JsonObject {
  return { programId, practitionerId: `${practitionerIds[0]}` };
}
