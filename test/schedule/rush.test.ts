import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { shareTestService, type TestService } from "../support/service.js";
import { book, type Clinic, call, day, openClinic, optionsFor, optionsIn } from "./clinic.js";

const PATIENTS = 20;

let service: TestService;
/** Twenty practitioners begin together at each time of the morning. */
let clinic: Clinic;

beforeAll(async () => {
  service = await shareTestService();
  const as = { tenantId: randomUUID() };
  const makers = Array.from({ length: PATIENTS }, () => fixtures.practitioner.create(service, as));
  const rule = { dailyCapacity: 200, validTo: day({ service }, 3) };
  clinic = await openClinic(service, { as, practitionerIds: await Promise.all(makers), rule });
});

afterAll(() => service.close());

describe("options that begin together", () => {
  test("have the same order for a patient in each search, and on pages of any size", async () => {
    const patientId = await patient();
    const whole = (await optionsFor(clinic, { patientId, pageSize: 200 })).map(keyOf);
    expect(whole).toHaveLength(160);
    expect((await optionsFor(clinic, { patientId, pageSize: 200 })).map(keyOf)).toEqual(whole);
    expect(await walk(patientId, 7)).toEqual(whole);
  });

  test("are ordered by their start first, and differently for different patients", async () => {
    const lists = await Promise.all([1, 2, 3].map(async () => optionsFor(clinic, { patientId: await patient() })));
    for (const list of lists) {
      const starts = list.map(({ startsAt }) => startsAt);
      expect(starts).toEqual(starts.toSorted());
    }
    const orders = lists.map((list) => list.map(keyOf).join());
    expect(new Set(orders).size).toBe(lists.length);
  });

  test("are found in few attempts by twenty patients at once that each take the first", async () => {
    const patientIds = await Promise.all(Array.from({ length: PATIENTS }, patient));
    const attempts = await Promise.all(patientIds.map(attemptsOf));
    const sum = attempts.reduce((total, each) => total + each, 0);
    expect(sum).toBeLessThan(3 * PATIENTS);
  });
});

const patient = () => fixtures.createPatient(service, {}, clinic.as);

function keyOf({ startsAt, practitionerId }: { readonly startsAt: string; readonly practitionerId: string }): string {
  return `${startsAt} ${practitionerId}`;
}

/** Returns the keys of all options of a patient, read in pages. */
async function walk(patientId: string, pageSize: number): Promise<string[]> {
  const keys: string[] = [];
  const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  const request = { serviceId: clinic.serviceId, ...dates, patientId, pageSize };
  for (let pageToken = ""; ; ) {
    const answer = await call(clinic, "SearchAppointmentOptions", { ...request, pageToken });
    keys.push(...optionsIn(answer).map(keyOf));
    const next = answer.body["nextPageToken"];
    if (typeof next !== "string" || next === "") return keys;
    pageToken = next;
  }
}

/** Searches and books the first option, again and again until it succeeds. Returns the number of attempts. */
async function attemptsOf(patientId: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const [first] = await optionsFor(clinic, { patientId });
    const { status } = await book(clinic, patientId, `${first?.optionToken}`);
    if (status === 200) return attempt;
    expect(status).toBe(409);
  }
}
