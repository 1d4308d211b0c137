import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OccupancyService } from "../../src/gen/cupo/clinic/v1/occupancy_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { holdFirst } from "./hold-requests.js";
import { expectRefusal, expectTokenIsBound, type Item, itemsIn, walkPages } from "./rpc-under-test.js";

const { getOccupancy, searchFreeSlots } = OccupancyService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("GetOccupancy", () => {
  test("returns open and booked slots and the capacity left of each day, by program and practitioner", async () => {
    const clinic = await openOwn({ practitioners: 2, rule: { dailyCapacity: 5 } });
    await bookFirst(clinic, await patientOf(clinic));
    await bookFirst(clinic, await patientOf(clinic));
    const [busy, other] = await rowsOn(clinic, 2, clinic.practitionerIds);
    expect([busy, other]).toEqual([
      counts({ openSlotCount: 7, bookedAppointmentCount: 1 }),
      counts({ openSlotCount: 7, bookedAppointmentCount: 1 }),
    ]);
    const days = await daysOf(clinic, { dateFrom: day(clinic, 2), dateTo: day(clinic, 3) });
    const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
    const { locationId } = program as { locationId: string };
    const practitioners = expect.any(Array);
    expect(days).toEqual([
      { ...dayOf(clinic, 2), locationId, capacity: 5, capacityLeft: 3, practitioners },
      { ...dayOf(clinic, 3), locationId, capacity: 5, capacityLeft: 5, practitioners },
    ]);
  });

  test("counts displaced appointments separately, and cancelled ones and no-shows not at all", async () => {
    const clinic = await openOwn();
    const [kept, cancelled] = [
      await bookFirst(clinic, await patientOf(clinic)),
      await bookFirst(clinic, await patientOf(clinic)),
    ];
    await service.query(`UPDATE appointments SET status = 'CANCELLED' WHERE id = '${idOf(cancelled)}'`);
    await service.query(`UPDATE slots SET appointment_id = NULL WHERE appointment_id = '${idOf(cancelled)}'`);
    const { programId } = clinic;
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    expect(await rowsOn(clinic, 2, [kept.practitionerId])).toEqual([counts({ displacedAppointmentCount: 1 })]);
  });

  test("counts a slot that a hold of its practitioner overlaps as held, also in another program or after a change", async () => {
    const clinic = await openOwn();
    const { programId, ruleId, practitionerIds, as } = clinic;
    const other = await openClinic(service, { as, practitionerIds });
    await holdFirst(other, {}, 1);
    for (const each of [clinic, other])
      expect(await rowsOn(each, 2, practitionerIds)).toEqual([counts({ openSlotCount: 7, heldSlotCount: 1 })]);
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, slotDurationMinutes: 60, expectedVersion: 1 });
    expect(await rowsOn(clinic, 2, practitionerIds)).toEqual([counts({ openSlotCount: 3, heldSlotCount: 1 })]);
  });

  test("distinguishes free slots from those that were free when they began", async () => {
    const clinic = await openOwn();
    service.advance(Date.parse(`${day(clinic, 1)}T08:45:00-05:00`) - service.now());
    const [today = counts({})] = await rowsOn(clinic, 0, clinic.practitionerIds);
    expect(Number(today["openSlotCount"]) + Number(today["passedSlotCount"])).toBe(8);
    const slots = await service.query(
      `SELECT count(*)::int AS open FROM slots WHERE program_id = '${clinic.programId}' AND local_date = '${day(clinic, 0)}'
       AND starts_at > '${new Date(service.now()).toISOString()}'`,
    );
    expect(today["openSlotCount"]).toBe(slots[0]?.["open"]);
  });

  test("adds the capacities of two rules of a day", async () => {
    const clinic = await openOwn({ rule: { dailyCapacity: 2 } });
    const afternoon = { startsAtLocal: "14:00", endsAtLocal: "16:00", dailyCapacity: 3, holidayPolicy: "INCLUDE" };
    const everyDay = { weekdays: [1, 2, 3, 4, 5, 6, 7], validFrom: "2020-01-01", validTo: "2099-12-31" };
    await fixtures.createRule(service, clinic.programId, { ...everyDay, ...afternoon }, clinic.as);
    await bookFirst(clinic, await patientOf(clinic));
    expect(await daysOf(clinic, oneDay(clinic, 2))).toEqual([
      expect.objectContaining({ capacity: 5, capacityLeft: 4 }),
    ]);
  });

  test("filters by program, practitioner and location, and by the access of the token", async () => {
    const clinic = await openOwn();
    const neighbour = await openClinic(service, { as: clinic.as });
    const date = oneDay(clinic, 2);
    const programs = async (filter: JsonObject, as = clinic.as) =>
      new Set((await daysOf({ ...clinic, as }, { ...date, ...filter })).map(({ programId }) => programId));
    const [{ locationId = "" } = {}] = await daysOf(clinic, { ...date, programId: clinic.programId });
    const [practitionerId = ""] = clinic.practitionerIds;
    const own = new Set([clinic.programId]);
    expect(await programs({})).toEqual(new Set([clinic.programId, neighbour.programId]));
    expect(await programs({ programId: clinic.programId })).toEqual(own);
    expect(await programs({ practitionerId: practitionerId.toUpperCase() })).toEqual(own);
    expect(await programs({ locationId: String(locationId) })).toEqual(own);
    expect(await programs({ programId: clinic.programId, locationId: randomUUID() })).toEqual(new Set());
    expect(await programs({}, { tenantId: randomUUID() })).toEqual(new Set());
    const organizationId = randomUUID();
    const hidden = await openClinic(service, { as: { ...clinic.as, organizationId } });
    expect(await programs({})).not.toContain(hidden.programId);
    expect(await programs({}, { ...clinic.as, organizationId })).toContain(hidden.programId);
  });

  test("covers at most 31 days, in order", async () => {
    const dates = (dateFrom: string, dateTo: string) => callRpc(service, getOccupancy, { dateFrom, dateTo });
    expect((await dates("2030-01-01", "2030-01-31")).status).toBe(200);
    expectRefusal(await dates("2030-01-01", "2030-02-01"), 422, ["dateTo INVALID_RANGE"]);
    expectRefusal(await dates("2030-01-02", "2030-01-01"), 422, ["dateTo INVALID_RANGE"]);
    expectRefusal(await dates("2030-02-30", "2030-03-01"), 422, ["dateFrom INVALID_DATE"]);
  });

  test("returns at most 10,000 rows, one per practitioner and day, and rejects more", async () => {
    const clinic = await openOwn();
    const { tenantId } = clinic.as;
    await service.query(
      `INSERT INTO practitioners (tenant_id, id, code, full_name, active, version, created_at, updated_at)
       SELECT '${tenantId}', gen_random_uuid(), n::text, 'Médica', true, 1, now(), now() FROM generate_series(1, 400) AS n`,
    );
    await service.query(
      `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
       SELECT p.tenant_id, gen_random_uuid(), '${clinic.programId}', '${clinic.ruleId}', p.id, date, date + interval '15 hours',
         date + interval '16 hours', 1 FROM practitioners p, generate_series('2031-01-01'::date, '2031-01-26', '1 day') AS date
       WHERE p.tenant_id = '${tenantId}' AND p.full_name = 'Médica' AND (date < '2031-01-26' OR p.code = '1')`,
    );
    const until = (dateTo: string) =>
      callRpc(service, getOccupancy, { dateFrom: "2031-01-01", dateTo }, { as: clinic.as });
    expectRefusal(await until("2031-01-26"), 422, ["dateTo TOO_MANY"]);
    const days = itemsIn(await until("2031-01-25"), "programDays");
    expect(days.map(({ practitioners }) => (practitioners as unknown[]).length)).toEqual(Array(25).fill(400));
  });

  test("returns no patient data and writes nothing", async () => {
    const clinic = await openOwn();
    const patientId = await patientOf(clinic);
    await bookFirst(clinic, patientId);
    const answer = await callRpc(service, getOccupancy, oneDay(clinic, 2), { as: clinic.as });
    expect(answer.text).not.toContain(patientId);
    expect(await auditOf(service, answer)).toEqual([]);
    const looks = await service.query(
      `SELECT operation FROM patient_access_records WHERE patient_id = '${patientId}' AND operation LIKE '%Occupancy%'`,
    );
    expect(looks).toEqual([]);
  });
});

describe("SearchFreeSlots", () => {
  test("returns the options of a search for a patient without other appointments, page by page, without tokens", async () => {
    const clinic = await openOwn();
    await bookFirst(clinic, await patientOf(clinic));
    const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 3) };
    const options = await optionsFor(clinic, { patientId: await patientOf(clinic), ...dates });
    const request = { serviceId: clinic.serviceId, ...dates, pageSize: 4 };
    const slots = (await walkPages(service, searchFreeSlots, "slots", request, { as: clinic.as })).flat();
    expect(slots).toEqual(
      options.map(({ startsAt, endsAt, programId, locationId, practitionerId }) => ({
        startsAt,
        endsAt,
        programId,
        locationId,
        practitionerId,
      })),
    );
    expect(slots).toHaveLength(15);
  });

  test("filters by period, practitioner, location and kind of program", async () => {
    const clinic = await openOwn();
    const emergency = { as: clinic.as, serviceId: clinic.serviceId, program: { emergency: true } };
    const ward = await openClinic(service, emergency);
    const [practitionerId = ""] = clinic.practitionerIds;
    const programs = async (criteria: JsonObject) =>
      new Set((await available(clinic, criteria)).map(({ programId }) => programId));
    expect(await programs({})).toEqual(new Set([clinic.programId]));
    expect(await programs({ includeEmergency: true })).toEqual(new Set([clinic.programId, ward.programId]));
    expect(await programs({ includeEmergency: true, practitionerId })).toEqual(new Set([clinic.programId]));
    expect(await programs({ locationId: randomUUID() })).toEqual(new Set());
    expect(await programs({ periods: ["MORNING"] })).toEqual(new Set([clinic.programId]));
    expect(await programs({ periods: ["NIGHT"] })).toEqual(new Set());
  });

  test("returns nothing of another tenant, and nothing for an unknown service", async () => {
    const clinic = await openOwn();
    expect(await available(clinic, {}, { as: { tenantId: randomUUID() } })).toEqual([]);
    expect(await available(clinic, { serviceId: randomUUID() })).toEqual([]);
  });

  test("rejects a page token of another request", async () => {
    const clinic = await openOwn();
    const request = { serviceId: clinic.serviceId, ...oneDay(clinic, 2) };
    const filters = { request, other: { ...request, periods: ["MORNING"] } };
    await expectTokenIsBound(service, searchFreeSlots, filters, { as: clinic.as });
  });

  test("covers at most 91 days", async () => {
    const dates = { serviceId: randomUUID(), dateFrom: "2030-01-01", dateTo: "2030-04-02" };
    expectRefusal(await callRpc(service, searchFreeSlots, dates), 422, ["dateTo INVALID_RANGE"]);
  });
});

/** Opens a clinic in a new tenant. */
async function openOwn({ practitioners = 1, rule = {} }: { practitioners?: number; rule?: JsonObject } = {}) {
  const as = { tenantId: randomUUID() };
  const made = Array.from({ length: practitioners }, () => fixtures.practitioner.create(service, as));
  return openClinic(service, { as, practitionerIds: await Promise.all(made), rule });
}

function patientOf({ as }: Clinic): Promise<string> {
  return fixtures.createPatient(service, {}, as);
}

function oneDay(clinic: Clinic, days: number) {
  return { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
}

function dayOf(clinic: Clinic, days: number) {
  return { date: day(clinic, days), programId: clinic.programId };
}

async function daysOf({ as }: Clinic, request: JsonObject): Promise<Item[]> {
  return itemsIn(await callRpc(service, getOccupancy, request, { as }), "programDays");
}

/** Returns the counts of these practitioners on a day of the clinic's program. */
async function rowsOn(clinic: Clinic, days: number, practitionerIds: readonly string[]): Promise<Item[]> {
  const [found] = await daysOf(clinic, { ...oneDay(clinic, days), programId: clinic.programId });
  const all = found?.["practitioners"] as readonly Item[];
  return practitionerIds.map((id) => {
    const { practitionerId: _, ...row } = all.find(({ practitionerId }) => practitionerId === id) ?? {};
    return row;
  });
}

function counts(changes: JsonObject): JsonObject {
  const slots = { openSlotCount: 0, passedSlotCount: 0 };
  return {
    ...slots,
    heldSlotCount: 0,
    bookedAppointmentCount: 0,
    displacedAppointmentCount: 0,
    blockedMinutes: 0,
    ...changes,
  };
}

function available(clinic: Clinic, criteria: JsonObject, changes: RpcChanges = { as: clinic.as }): Promise<Item[]> {
  const request = { serviceId: clinic.serviceId, ...oneDay(clinic, 2), ...criteria };
  return callRpc(service, searchFreeSlots, request, changes).then((answer) => itemsIn(answer, "slots"));
}

function idOf(appointment: object): string {
  return String(Object.values(appointment)[0]);
}
