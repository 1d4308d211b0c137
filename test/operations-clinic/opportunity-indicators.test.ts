import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OpportunityService } from "../../src/gen/cupo/clinic/v1/opportunity_service_pb.js";
import { extendSchedules } from "../../src/jobs/extend-schedules.js";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { type Indicators, indicatorsOf } from "../jobs/indicators-under-test.js";
import { cancel } from "../jobs/time-events-under-test.js";
import {
  type AppointmentBody,
  appointmentIn,
  awaitStep,
  book,
  bookFirst,
  type Clinic,
  day,
  mustCall,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { holdFirst } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { mustBlock, wholeDay } from "./schedule-block-fixtures.js";
import { timedBooking } from "./timed-bookings.js";

const { getOpportunityIndicators } = OpportunityService.method;
const DAY_MS = 86_400_000;
const MONTHS = { monthFrom: "2027-01", monthTo: "2027-02" };
/** On 2027-01-04, a Monday, at noon in Bogotá. */
const MONDAY_MS = Date.parse("2027-01-04T17:00:00Z");
const FULL = { sum: "20", mean: 20, median: 20, p90: 20 };

const silent = pino({ enabled: false });
const NONE = { count: "0", calendarDays: { sum: "0" }, businessDays: { sum: "0" } };

let service: TestService;
let database: Database;
let clinic: Clinic & { readonly tenantId: string };

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
  service.stopAt(MONDAY_MS);
  clinic = await openOwn();
});

beforeEach(() => service.stopAt(MONDAY_MS));

afterAll(async () => {
  await database.close();
  await service.close();
});

describe("GetOpportunityIndicators", () => {
  test("reports 20 days for a booking of a waitlist entry of 20 days ago, and the days until the visit", async () => {
    const own = await openOwn();
    const [patientId, other] = await Promise.all([patientOf(own), patientOf(own)]);
    const waitlistEntryId = await deskFixtures(service, own.as).entry({ patientId, serviceId: own.serviceId });
    await mustCall(own, "CreateHoliday", { date: "2027-01-11", name: "Reyes", active: true });
    service.advance(20 * DAY_MS);
    const [option] = await optionsFor(own, { patientId });
    const booked = appointmentIn(await book(own, patientId, `${option?.optionToken}`, { waitlistEntryId }));
    expect(await only(own)).toMatchObject({
      assigned: { count: "1", calendarDays: FULL, businessDays: { sum: "13", p90: 13 } },
      assignedFirstVisits: { count: "1", calendarDays: FULL },
      attended: NONE,
    });
    const missed = await bookFirst(own, other);
    for (const [index, step] of ["CheckInAppointment", "MarkAppointmentAttended"].entries()) {
      awaitStep(own, step, booked);
      await mustCall(own, step, { appointmentId: booked.appointmentId, expectedVersion: index + 1 });
    }
    awaitStep(own, "MarkAppointmentNoShow", missed);
    const noShowReasonId = await fixtures.noShowReason.create(service, own.as);
    const miss = { appointmentId: missed.appointmentId, expectedVersion: 1, noShowReasonId, comment: "No vino." };
    await mustCall(own, "MarkAppointmentNoShow", miss);
    expect(await only(own)).toMatchObject({
      assigned: { count: "2", calendarDays: { sum: "20", mean: 10, median: 10, p90: 20 } },
      attended: { count: "1", calendarDays: { sum: "22" }, businessDays: { sum: "15" } },
      attendedFirstVisits: { count: "1", calendarDays: { sum: "22" } },
      noShowCount: "1",
      noShowRate: 0.5,
      breachCount: "1",
    });
  });

  test("counts a moved appointment on the day of its booking, and in the month of its new day", async () => {
    const own = await openOwn();
    const { appointmentId } = await bookFirst(own, await patientOf(own), {
      dateFrom: day(own, 5),
      dateTo: day(own, 5),
    });
    service.advance(4 * DAY_MS);
    const options = await optionsFor(own, { appointmentId, dateFrom: "2027-02-01", dateTo: "2027-02-01" });
    const move = { appointmentId, optionToken: `${options[0]?.optionToken}`, expectedVersion: 1 };
    await mustCall(own, "RescheduleAppointment", move);
    const months = await indicatorsOf(service, own.tenantId, { ...MONTHS, groupBy: ["MONTH"] });
    expect(months).toMatchObject([
      { month: "2027-01", assigned: { count: "1" } },
      { month: "2027-02", breachCount: "1" },
    ]);
  });

  test("groups by each attribute and filters by each, and names no patient", async () => {
    const own = await openOwn();
    const [payerId, patientId] = await Promise.all([fixtures.payer.create(service, own.as), patientOf(own)]);
    const [option] = await optionsFor(own, { patientId });
    const { locationId } = appointmentIn(await book(own, patientId, `${option?.optionToken}`, { payerId }));
    await bookFirst(own, await patientOf(own));
    const { serviceId, programId } = own;
    const groupBy = ["MONTH", "SERVICE", "LOCATION", "PAYER", "PROGRAM"];
    const ids = { serviceId, locationId, programId };
    const found = await indicatorsOf(service, own.tenantId, { ...MONTHS, groupBy });
    expect(found).toMatchObject([
      { month: "2027-01", ...ids, payerId, assigned: { count: "1" } },
      { month: "2027-01", ...ids, assigned: { count: "1" } },
    ]);
    expect(found[1]).not.toHaveProperty("payerId");
    expect(await only(own, { payerId })).toMatchObject({ assigned: { count: "1" } });
    for (const [name, id] of Object.entries(ids)) {
      expect(await only(own, { [name]: id })).toMatchObject({ assigned: { count: "2" } });
      expect(await only(own, { [name]: randomUUID() })).toMatchObject({ assigned: NONE });
    }
    expect(await only(own, { monthFrom: "2026-11", monthTo: "2026-12" })).toMatchObject({ assigned: NONE });
    const answer = await callRpc(service, getOpportunityIndicators, MONTHS, { as: own.as });
    expect(answer.text).not.toContain(patientId);
    expect(await auditOf(service, answer)).toEqual([]);
  });

  test("returns one group without data for another tenant", async () => {
    await bookFirst(clinic, await patientOf(clinic));
    const [empty, ...others] = await indicatorsOf(service, randomUUID(), MONTHS);
    expect(others).toEqual([]);
    const waits = { assigned: NONE, assignedFirstVisits: NONE, attended: NONE, attendedFirstVisits: NONE };
    expect(empty).toEqual({ ...waits, breachCount: "0", noShowCount: "0" });
  });

  test("rejects months in the wrong order or form, unknown and repeated attributes", async () => {
    const refused = async (changes: JsonObject) =>
      callRpc(service, getOpportunityIndicators, { ...MONTHS, ...changes });
    expectRefusal(await refused({ monthTo: "2026-12" }), 422, ["monthTo INVALID_RANGE"]);
    for (const month of ["2027-13", "2027-1", "0000-01", "2027-01-01"]) {
      expectRefusal(await refused({ monthTo: month }), 422, ["monthTo INVALID_FORMAT"]);
    }
    expectRefusal(await refused({ groupBy: ["MONTH", "MONTH"] }), 422, ["groupBy[1] DUPLICATE"]);
    expectRefusal(await refused({ groupBy: ["ATTRIBUTE_UNSPECIFIED"] }), 422, ["groupBy[0] INVALID_VALUE"]);
    expectRefusal(await callRpc(service, getOpportunityIndicators, {}), 422, [
      "monthFrom REQUIRED",
      "monthTo REQUIRED",
    ]);
  });

  test("rejects a request for more than 1,000 groups", async () => {
    const tenantId = randomUUID();
    await service.query(`INSERT INTO opportunity_states VALUES ('${tenantId}')`);
    const insert = (count: number) =>
      service.query(`INSERT INTO opportunity_changes SELECT '${tenantId}', gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(),
        gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), true, d, d, d, 'OTHER', false, 0
        FROM (SELECT date '2027-01-05' AS d FROM generate_series(1, ${count})) AS n`);
    await insert(1_000);
    expect(await indicatorsOf(service, tenantId, { ...MONTHS, groupBy: ["SERVICE"] })).toHaveLength(1_000);
    await insert(1);
    const answer = await callRpc(
      service,
      getOpportunityIndicators,
      { ...MONTHS, groupBy: ["SERVICE"] },
      { as: { tenantId } },
    );
    expectRefusal(answer, 422, ["groupBy TOO_MANY"]);
  });
});

describe("the slots of GetOpportunityIndicators", () => {
  test("are the booked and the free minutes of each program, also after past slots are deleted", async () => {
    const own = await openOwn({ validTo: day(clinic, 2) });
    expect((await only(own))["fillRate"]).toBe(0);
    await bookFirst(own, await patientOf(own), { dateFrom: day(own, 1), dateTo: day(own, 1) });
    await bookFirst(own, await patientOf(own), { dateFrom: day(own, 2), dateTo: day(own, 2) });
    expect((await only(own))["fillRate"]).toBe(2 / 16);
    for (const by of [{ groupBy: ["SERVICE"] }, { groupBy: ["PAYER"] }, { serviceId: own.serviceId }]) {
      expect(await only(own, by)).not.toHaveProperty("fillRate");
    }
    const [month] = await indicatorsOf(service, own.tenantId, { ...MONTHS, groupBy: ["MONTH", "LOCATION", "PROGRAM"] });
    expect(month).toMatchObject({ programId: own.programId, fillRate: 2 / 16 });
    service.advance(10 * DAY_MS);
    await extendSchedules(own.tenantId, { database, now: service.now, maxOpenSlots: 1_000, logger: silent });
    const [slots] = await service.query(`SELECT count(*)::int FROM slots WHERE tenant_id = '${own.tenantId}'`);
    expect(slots).toEqual({ count: 2 });
    expect((await only(own))["fillRate"]).toBe(2 / 16);
  });

  test("are all booked if none is free, and none is of an overbooked appointment", async () => {
    const own = await openOwn({ validTo: day(clinic, 2) });
    const { startsAt } = await bookFirst(own, await patientOf(own), { dateFrom: day(own, 1), dateTo: day(own, 1) });
    const overbooking = { startsAt, durationMinutes: 30, reason: "Viaja desde Leticia." };
    await mustCall(own, "OverbookAppointment", await timedBooking(own, overbooking));
    expect((await only(own))["fillRate"]).toBe(1 / 16);
    const bothDays = { startsAt: wholeDay(own, 1).startsAt, endsAt: wholeDay(own, 2).endsAt };
    await mustBlock(own, { programId: own.programId, ...bothDays });
    expect((await only(own))["fillRate"]).toBe(1);
  });

  test("tell the days to the third next of them, for the present month", async () => {
    const own = await openOwn();
    expect(await only(own)).toMatchObject({ thirdNextAvailableDays: 1 });
    await bookTomorrow(own, 6);
    for (const by of [
      { serviceId: own.serviceId },
      { programId: own.programId },
      { groupBy: ["SERVICE", "LOCATION"] },
    ]) {
      expect(await only(own, by)).toMatchObject({ thirdNextAvailableDays: 2 });
    }
    expect(await only(own, { serviceId: randomUUID() })).not.toHaveProperty("thirdNextAvailableDays");
    expect(await only(own, { monthFrom: "2026-12", monthTo: "2027-01" })).toHaveProperty("thirdNextAvailableDays");
    for (const months of [{ monthFrom: "2027-02" }, { monthFrom: "2026-11", monthTo: "2026-12" }])
      expect(await only(own, months)).not.toHaveProperty("thirdNextAvailableDays");
    await bookFirst(own, await patientOf(own), { dateFrom: "2027-02-01", dateTo: "2027-02-01" });
    const months = await indicatorsOf(service, own.tenantId, { ...MONTHS, groupBy: ["MONTH"] });
    expect(months).toMatchObject([{ month: "2027-01", thirdNextAvailableDays: 2 }, { month: "2027-02" }]);
    expect(months[1]).not.toHaveProperty("thirdNextAvailableDays");
  });

  test("tell them without emergency programs, full days and a slot that begins at this instant", async () => {
    const emergency = await openOwn({ program: { emergency: true } });
    expect(await only(emergency)).not.toHaveProperty("thirdNextAvailableDays");
    const small = await openOwn({ dailyCapacity: 1 });
    await bookFirst(small, await patientOf(small), { dateFrom: day(small, 1), dateTo: day(small, 1) });
    expect(await only(small)).toMatchObject({ thirdNextAvailableDays: 2 });
    const own = await openOwn();
    const slotMs = Date.parse(`${day(own, 1)}T10:30:00-05:00`);
    for (const [ms, days] of [
      [slotMs - 1, 0],
      [slotMs, 1],
    ] as const) {
      service.stopAt(ms);
      expect(await only(own)).toMatchObject({ thirdNextAvailableDays: days });
    }
  });
});

describe("the third next free slot", () => {
  test.each<[what: string, booked: number, settings: Readonly<Record<string, number>>, days: number | undefined]>([
    ["after the minimum notice", 0, { minimumNoticeMinutes: 1_440 }, 2],
    ["on the last date of the horizon", 6, { horizonDays: 2 }, 2],
    ["absent if it is beyond the horizon", 6, { horizonDays: 1 }, undefined],
  ])("is %s", async (_, booked, settings, days) => {
    const own = await openOwn();
    await bookTomorrow(own, booked);
    const updateMask = Object.keys(settings).join();
    await mustCall(own, "UpdateTenantSettings", { ...settings, expectedVersion: 1, updateMask });
    expect((await only(own))["thirdNextAvailableDays"]).toBe(days);
  });

  test("is not at the time of an appointment of the practitioner in another program, but of a hold", async () => {
    const own = await openOwn();
    const { as, tenantId, practitionerIds } = own;
    const other = { ...(await openClinic(service, { as, practitionerIds, rule: { validTo: day(own, 1) } })), tenantId };
    const { programId } = other;
    const [appointment] = await bookTomorrow(own, 6);
    expect(await only(own, { programId })).not.toHaveProperty("thirdNextAvailableDays");
    await cancel(own, appointment as AppointmentBody);
    await holdFirst(other, { dateFrom: day(own, 1), dateTo: day(own, 1) });
    expect(await only(own, { programId })).toMatchObject({ thirdNextAvailableDays: 1 });
  });
});

test("the third next free slot is not on a date to which a changed rule was not applied yet", async () => {
  const own = await openOwn();
  await service.query(`UPDATE programs SET outdated_from = '${day(own, 1)}' WHERE id = '${own.programId}'`);
  expect(await only(own)).not.toHaveProperty("thirdNextAvailableDays");
});

test("a holiday at most two days ahead has the summaries built again, unlike a later one", async () => {
  const own = await openOwn();
  await service.query(`INSERT INTO opportunity_states VALUES ('${own.tenantId}')`);
  const builtAfter = async (days: number) => {
    await mustCall(own, "CreateHoliday", { date: day(own, days), name: "Fiesta", active: true });
    return (await service.query(`SELECT FROM opportunity_states WHERE tenant_id = '${own.tenantId}'`)).length;
  };
  expect([await builtAfter(3), await builtAfter(2)]).toEqual([1, 0]);
});

async function openOwn({
  program = {},
  validTo = day({ service }, 40),
  dailyCapacity = 20,
}: {
  readonly program?: JsonObject;
  readonly validTo?: string;
  readonly dailyCapacity?: number;
} = {}) {
  const tenantId = randomUUID();
  const rule = { validTo, dailyCapacity };
  return { ...(await openClinic(service, { as: { tenantId }, program, rule })), tenantId };
}

/** Books the first `count` slots of tomorrow. */
async function bookTomorrow(own: Clinic, count: number): Promise<AppointmentBody[]> {
  const booked: AppointmentBody[] = [];
  for (const _ of Array(count))
    booked.push(await bookFirst(own, await patientOf(own), { dateFrom: day(own, 1), dateTo: day(own, 1) }));
  return booked;
}

function patientOf({ as }: Clinic): Promise<string> {
  return fixtures.createPatient(service, {}, as);
}

async function only({ tenantId }: { readonly tenantId: string }, request: JsonObject = {}): Promise<Indicators> {
  const [group] = await indicatorsOf(service, tenantId, { ...MONTHS, ...request });
  return group as Indicators;
}
