import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { locationOf } from "./displaced-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("ListAppointments by several practitioners, locations and services", () => {
  test("returns the appointments of any of them, in order, on pages", async () => {
    const { clinics, ids } = await openThree();
    const [one, two, three] = clinics;
    const both = await Promise.all([one, two].map(async (clinic) => locationOf(clinic)));
    const people = [one, three].map(({ practitionerIds }) => `${practitionerIds[0]}`.toUpperCase());
    expect(await listed(one, { practitionerIds: people })).toEqual([ids[0], ids[2]]);
    expect(await listed(one, { practitionerIds: people.slice(1), practitionerId: `${people[0]}` })).toEqual([
      ids[0],
      ids[2],
    ]);
    expect(await listed(one, { practitionerIds: people, statuses: ["PENDING", "CONFIRMED"] })).toEqual([
      ids[0],
      ids[2],
    ]);
    expect(await listed(one, { locationIds: both })).toEqual([ids[0], ids[1]]);
    expect(await listed(one, { serviceIds: [two.serviceId, three.serviceId] })).toEqual([ids[1], ids[2]]);
    expect(await listed(one, { practitionerIds: people, serviceIds: [three.serviceId] })).toEqual([ids[2]]);
    expect(await listed(one, { practitionerIds: people, displaced: true })).toEqual([]);
  });

  test("also finds displaced ones among them", async () => {
    const { clinics, ids } = await openThree();
    const [one, two, three] = clinics;
    for (const { programId } of clinics) {
      const times = { startsAt: `${day(one, 1)}T00:00:00-05:00`, endsAt: `${day(one, 6)}T00:00:00-05:00` };
      await mustCall(one, "CreateScheduleBlock", { programId, kind: "MEETING", ...times });
    }
    const people = [one, three].map(({ practitionerIds }) => `${practitionerIds[0]}`);
    expect(await listed(one, { practitionerIds: people, displaced: true })).toEqual([ids[0], ids[2]]);
    const services = { serviceIds: [one.serviceId, two.serviceId], displaced: true };
    expect(await listed(one, services)).toEqual([ids[0], ids[1]]);
    const locationIds = await Promise.all([two, three].map(async (clinic) => locationOf(clinic)));
    expect(await listed(one, { locationIds, displaced: true })).toEqual([ids[1], ids[2]]);
  });

  test("takes at most 20 ids, each once", async () => {
    const clinic = await openClinic(service);
    const many = { practitionerIds: Array.from({ length: 21 }, () => randomUUID()) };
    expectRefusal(await call(clinic, "ListAppointments", many), 422, ["practitionerIds TOO_MANY"]);
  });
});

describe("ListWaitlistEntries by several services, locations and practitioners", () => {
  test("returns the entries of any of them", async () => {
    const as = { tenantId: randomUUID() };
    const make = deskFixtures(service, as);
    const [serviceIds, locationIds] = [await several(make.healthcareService), await several(make.location)];
    const ids: string[] = [];
    for (const [i, serviceId] of serviceIds.entries())
      ids.push(await make.entry({ serviceId, locationId: `${locationIds[i]}` }));
    const read = async (request: JsonObject) => {
      const { waitlistEntries } = await mustCall({ service, as }, "ListWaitlistEntries", request);
      return (waitlistEntries as JsonObject[]).map(({ waitlistEntryId }) => waitlistEntryId);
    };
    expect(await read({ serviceIds: serviceIds.slice(1) })).toEqual([ids[1], ids[2]]);
    expect(await read({ locationIds: locationIds.slice(1), locationId: `${locationIds[0]}` })).toEqual(ids);
    expect(await read({ serviceIds: serviceIds.slice(1), locationIds: locationIds.slice(0, 2) })).toEqual([ids[1]]);
    expect(await read({ practitionerIds: [randomUUID(), randomUUID()] })).toEqual([]);
  });
});

/** Opens three clinics in a tenant, each with one appointment, on consecutive days. */
async function openThree() {
  const as = { tenantId: randomUUID() };
  const clinics: Clinic[] = [];
  const ids: string[] = [];
  for (const i of [0, 1, 2]) {
    const clinic = await openClinic(service, { as });
    clinics.push(clinic);
    const dates = { dateFrom: day(clinic, 2 + i), dateTo: day(clinic, 2 + i) };
    ids.push((await bookFirst(clinic, await fixtures.createPatient(service, {}, as), dates)).appointmentId);
  }
  const [one, two, three] = clinics;
  if (one === undefined || two === undefined || three === undefined) throw new Error("three clinics were expected");
  return { clinics: [one, two, three] as const, ids };
}

/** Returns the ids of the appointments of all pages of one. */
async function listed(clinic: Clinic, request: JsonObject): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (let pageToken = ""; ; ) {
    const page = await mustCall(clinic, "ListAppointments", { ...request, pageSize: 1, pageToken });
    ids.push(...(page["appointments"] as JsonObject[]).map(({ appointmentId }) => appointmentId));
    pageToken = (page as { nextPageToken?: string }).nextPageToken ?? "";
    if (pageToken === "") return ids;
  }
}

function several(make: () => Promise<string>): Promise<string[]> {
  return Promise.all([make(), make(), make()]);
}
