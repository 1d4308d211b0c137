import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OccupancyService } from "../../src/gen/cupo/clinic/v1/occupancy_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { type Item, itemsIn } from "./rpc-under-test.js";
import { locationOf, mustBlock, wholeDay } from "./schedule-block-fixtures.js";
import { at } from "./timed-bookings.js";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("GetOccupancy of a day with blocks", () => {
  test("counts the minutes under blocks of practitioner, program and location, overlapping ones once", async () => {
    const clinic = await openOwn(2);
    const [one = "", other = ""] = clinic.practitionerIds;
    const { programId } = clinic;
    await mustBlock(clinic, { practitionerId: one, ...span(clinic, "08:30", "09:30") });
    await mustBlock(clinic, { programId, ...span(clinic, "09:00", "10:00") });
    await mustBlock(clinic, { locationId: await locationOf(clinic), ...span(clinic, "07:00", "08:15") });
    const rows = await practitionersOn(clinic, 2);
    expect(rows.get(one)).toMatchObject({ blockedMinutes: 105, openSlotCount: 4 });
    expect(rows.get(other)).toMatchObject({ blockedMinutes: 75, openSlotCount: 5 });
    expect((await practitionersOn(clinic, 3)).get(one)).toMatchObject({ blockedMinutes: 0, openSlotCount: 8 });
  });

  test("shows a fully blocked day with no free slots", async () => {
    const clinic = await openOwn(1);
    const [practitionerId = ""] = clinic.practitionerIds;
    await mustBlock(clinic, { practitionerId, ...wholeDay(clinic, 2) });
    const [found] = await daysOf(clinic, 2);
    expect(found).toMatchObject({ date: day(clinic, 2), capacity: 0, capacityLeft: 0 });
    const slots = { openSlotCount: 0, passedSlotCount: 0, heldSlotCount: 0 };
    const nothing = { ...slots, bookedAppointmentCount: 0, displacedAppointmentCount: 0 };
    expect(found?.["practitioners"]).toEqual([{ practitionerId, ...nothing, blockedMinutes: 240 }]);
  });

  test("counts a displaced appointment besides the minutes, and ignores cancelled blocks", async () => {
    const clinic = await openOwn(1);
    const [practitionerId = ""] = clinic.practitionerIds;
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as));
    const { scheduleBlock } = await mustBlock(clinic, { practitionerId, ...wholeDay(clinic, 2) });
    expect((await practitionersOn(clinic, 2)).get(practitionerId)).toMatchObject({
      displacedAppointmentCount: 1,
      blockedMinutes: 240,
    });
    const { scheduleBlockId } = scheduleBlock as unknown as { scheduleBlockId: string };
    await mustCall(clinic, "CancelScheduleBlock", { scheduleBlockId, expectedVersion: 1 });
    expect((await practitionersOn(clinic, 2)).get(practitionerId)).toMatchObject({
      bookedAppointmentCount: 1,
      blockedMinutes: 0,
    });
  });

  test("ignores other programs, practitioners that were not requested, and inactive ones", async () => {
    const clinic = await openOwn(2);
    const neighbour = await openClinic(service, { as: clinic.as });
    const [one = "", other = ""] = clinic.practitionerIds;
    await mustBlock(clinic, { programId: clinic.programId, ...wholeDay(clinic, 2) });
    expect([...(await practitionersOn(neighbour, 2)).values()]).toMatchObject([{ blockedMinutes: 0 }]);
    expect([...(await practitionersOn(clinic, 2, { practitionerId: one })).keys()]).toEqual([one]);
    await mustCall(clinic, "UpdatePractitioner", { practitionerId: other, active: false, expectedVersion: 1 });
    expect([...(await practitionersOn(clinic, 2)).keys()]).toEqual([one]);
  });
});

test.each(["SKIP", "INCLUDE", "ONLY_EXCEPTIONS"])(
  "GetOccupancy counts as blocked the minutes of withdrawn slots, day by day, with holiday policy %s",
  async (holidayPolicy) => {
    const rule = { holidayPolicy, startsAtLocal: "20:00:00", endsAtLocal: "23:59:00", dailyCapacity: 50 };
    const as = { tenantId: randomUUID() };
    const [first, second, third] = [3, 4, 5].map((days) => day({ service }, days));
    for (const date of [first, second]) {
      await mustCall({ service, as }, "CreateHoliday", { date: `${date}`, name: "Fiesta", active: true });
    }
    const holidayDates = holidayPolicy === "INCLUDE" ? [] : [`${second}`, `${third}`];
    const clinic = await openClinic(service, { as, rule: { ...rule, holidayDates, weekdays: [1, 2, 3, 5, 6, 7] } });
    const before = await minutesByDay(clinic, ({ openSlotCount }) => Number(openSlotCount) * 30);
    expect(before.size).toBeGreaterThan(8);
    const through = { startsAt: wholeDay(clinic, 1).startsAt, endsAt: wholeDay(clinic, 14).endsAt };
    await mustBlock(clinic, { locationId: await locationOf(clinic), ...through });
    expect(await minutesByDay(clinic, ({ blockedMinutes }) => Number(blockedMinutes))).toEqual(before);
  },
);

/** Opens a clinic in a new tenant. */
async function openOwn(practitioners: number): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const made = Array.from({ length: practitioners }, () => fixtures.practitioner.create(service, as));
  return openClinic(service, { as, practitionerIds: await Promise.all(made) });
}

function span(clinic: Clinic, from: string, to: string): { startsAt: string; endsAt: string } {
  return { startsAt: at(clinic, from), endsAt: at(clinic, to) };
}

async function daysOf(clinic: Clinic, from: number, through = from, filter: JsonObject = {}): Promise<Item[]> {
  const { programId, as } = clinic;
  const request = { dateFrom: day(clinic, from), dateTo: day(clinic, through), programId, ...filter };
  return itemsIn(await callRpc(service, OccupancyService.method.getOccupancy, request, { as }), "programDays");
}

/** Returns the rows of a day by practitioner. */
async function practitionersOn(
  clinic: Clinic,
  days: number,
  filter: JsonObject = {},
): Promise<Map<string, JsonObject>> {
  const [found] = await daysOf(clinic, days, days, filter);
  const rows = found?.["practitioners"] as readonly { practitionerId: string }[];
  return new Map(rows.map((row) => [row.practitionerId, row]));
}

async function minutesByDay(clinic: Clinic, of: (row: JsonObject) => number): Promise<Map<unknown, number>> {
  const days = await daysOf(clinic, 1, 14);
  return new Map(days.map(({ date, practitioners }) => [date, of((practitioners as JsonObject[])[0] ?? {})]));
}
