import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { lastDayOfWait } from "../../src/scheduling/last-day-of-wait.js";
import * as fixtures from "../contract/fixtures.js";
import {
  appointmentIn,
  book,
  bookFirst,
  type Clinic,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";

const DAY_MS = 86_400_000;
/** The limit of the clinic's appointment type and service. */
const LIMIT = { maxWaitDays: 3, dayKind: "BUSINESS" } as const;

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  service.stopAt(service.now());
  const as = { tenantId: randomUUID() };
  clinic = await openClinic(service, { as, rule: { startsAtLocal: "00:00:00", endsAtLocal: "02:00:00" } });
  patientId = await fixtures.createPatient(service, {}, as);
});

afterAll(() => service.close());

describe("the due date of a booking counts no holidays", () => {
  test("after today", async () => {
    const dueOn = await makeHolidays();
    expect(await bookFor({})).toMatchObject({ requestedOn: day(clinic, 0), dueOn });
  });

  test("after the request that the booking names", async () => {
    const requestedOn = day(clinic, 0);
    const dueOn = await makeHolidays();
    service.stopAt(service.now() + 4 * DAY_MS);
    expect(await bookFor({ requestedOn })).toMatchObject({ requestedOn, dueOn });
  });

  test("after the creation of the waitlist entry", async () => {
    const requestedOn = day(clinic, 0);
    const waitlistEntryId = await deskFixtures(service, clinic.as).entry({ patientId, serviceId: clinic.serviceId });
    const dueOn = await makeHolidays();
    service.stopAt(service.now() + 4 * DAY_MS);
    expect(await bookFor({ waitlistEntryId })).toMatchObject({ requestedOn, dueOn });
  });

  test("after the request of the appointment that it replaces", async () => {
    const requestedOn = day(clinic, 0);
    const { appointmentId } = await bookFirst(clinic, patientId);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(clinic, "CancelAppointment", { appointmentId, cancellationReasonId, expectedVersion: 1 });
    const dueOn = await makeHolidays();
    service.stopAt(service.now() + 4 * DAY_MS);
    expect(await bookFor({ replacesAppointmentId: appointmentId })).toMatchObject({ requestedOn, dueOn });
  });
});

test("an option at the midnight that ends the due date is overdue, and each option before it is not", async () => {
  const { serviceId } = clinic;
  const search = async (date: string) =>
    mustCall(clinic, "SearchAppointmentOptions", { patientId, serviceId, dateFrom: date, dateTo: date });
  const { dueOn } = (await search(day(clinic, 1))) as { dueOn: string };
  const days = Math.round((Date.parse(dueOn) - Date.parse(day(clinic, 0))) / DAY_MS);
  const overdueOn = async (date: string) =>
    ((await search(date))["options"] as { overdue: boolean }[]).map(({ overdue }) => overdue);
  expect(await overdueOn(day(clinic, days))).toEqual([false, false, false, false]);
  expect(await overdueOn(day(clinic, days + 1))).toEqual([true, true, true, true]);
});

/** Makes the next four days holidays. Returns the due date of a request of today. */
async function makeHolidays(): Promise<string> {
  const dates = [1, 2, 3, 4].map((days) => day(clinic, days));
  for (const date of dates) await mustCall(clinic, "CreateHoliday", { date, name: "Fiesta", active: true });
  return lastDayOfWait(day(clinic, 0), LIMIT, dates);
}

/** Books an option of the day after tomorrow. */
async function bookFor(changes: JsonObject) {
  const [option] = await optionsFor(clinic, { patientId });
  return appointmentIn(await book(clinic, patientId, `${option?.optionToken}`, changes));
}
