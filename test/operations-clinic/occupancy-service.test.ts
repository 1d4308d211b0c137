import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OccupancyService } from "../../src/gen/cupo/clinic/v1/occupancy_service_pb.js";
import * as makers from "../contract/makers.js";
import { bookFirst, type Clinic, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeAccess, expectRefusal, expectTokenIsBound, type Item, itemsIn, walkPages } from "./rpc-under-test.js";

const { getOccupancy, searchAvailability } = OccupancyService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("GetOccupancy", () => {
  describeAccess(
    {
      method: getOccupancy,
      scope: "scheduling:read",
      prepare: async () => ({ dateFrom: "2030-01-01", dateTo: "2030-01-31" }),
    },
    () => service,
  );

  test("gives what is open, booked and left of each day, program by program and practitioner by practitioner", async () => {
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

  test("counts what is retained apart, and what is cancelled or missed not at all", async () => {
    const clinic = await openOwn();
    const [kept, cancelled] = [
      await bookFirst(clinic, await patientOf(clinic)),
      await bookFirst(clinic, await patientOf(clinic)),
    ];
    await service.query(`UPDATE appointments SET status = 'CANCELLED' WHERE id = '${idOf(cancelled)}'`);
    await service.query(`UPDATE slots SET appointment_id = NULL WHERE appointment_id = '${idOf(cancelled)}'`);
    const { programId } = clinic;
    await mustCall(clinic, "ReplaceProgramPractitioners", { programId, practitionerIds: [], expectedVersion: 2 });
    expect(await rowsOn(clinic, 2, [kept.practitionerId])).toEqual([counts({ retainedAppointmentCount: 1 })]);
  });

  test("tells a slot that is free from one that was free when it began", async () => {
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
    await makers.createRule(service, clinic.programId, { ...everyDay, ...afternoon }, clinic.as);
    await bookFirst(clinic, await patientOf(clinic));
    expect(await daysOf(clinic, oneDay(clinic, 2))).toEqual([
      expect.objectContaining({ capacity: 5, capacityLeft: 4 }),
    ]);
  });

  test("keeps to a program, a practitioner and a location, and to what the token gives access to", async () => {
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

  test("looks at 31 days at most, in their order", async () => {
    const dates = (dateFrom: string, dateTo: string) => callRpc(service, getOccupancy, { dateFrom, dateTo });
    expect((await dates("2030-01-01", "2030-01-31")).status).toBe(200);
    expectRefusal(await dates("2030-01-01", "2030-02-01"), 422, ["dateTo INVALID_RANGE"]);
    expectRefusal(await dates("2030-01-02", "2030-01-01"), 422, ["dateTo INVALID_RANGE"]);
    expectRefusal(await dates("2030-02-30", "2030-03-01"), 422, ["dateFrom INVALID_DATE"]);
  });

  test("refuses more than 10,000 days of practitioners, of which fewer dates are less", async () => {
    const clinic = await openOwn();
    const { tenantId } = clinic.as;
    await service.query(
      `INSERT INTO practitioners (tenant_id, id, code, full_name, active, version, created_at, updated_at)
       SELECT '${tenantId}', gen_random_uuid(), n::text, 'Médica', true, 1, now(), now() FROM generate_series(1, 330) AS n`,
    );
    await service.query(
      `INSERT INTO slots (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
       SELECT p.tenant_id, gen_random_uuid(), '${clinic.programId}', '${clinic.ruleId}', p.id, date, date + interval '15 hours',
         date + interval '16 hours', 1 FROM practitioners p, generate_series('2031-01-01'::date, '2031-01-31', '1 day') AS date
       WHERE p.tenant_id = '${tenantId}' AND p.full_name = 'Médica'`,
    );
    const until = (dateTo: string) =>
      callRpc(service, getOccupancy, { dateFrom: "2031-01-01", dateTo }, { as: clinic.as });
    expectRefusal(await until("2031-01-31"), 422, ["dateTo TOO_MANY"]);
    const days = itemsIn(await until("2031-01-30"), "programDays");
    expect(days.map(({ practitioners }) => (practitioners as unknown[]).length)).toEqual(days.map(() => 330));
  });

  test("tells nothing of patients and leaves no trace", async () => {
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

describe("SearchAvailability", () => {
  describeAccess(
    {
      method: searchAvailability,
      scope: "scheduling:read",
      prepare: async () => ({ serviceId: randomUUID(), dateFrom: "2030-01-01", dateTo: "2030-01-31" }),
    },
    () => service,
  );

  test("gives what a search for a patient with nothing else to do gives, page by page, without tokens", async () => {
    const clinic = await openOwn();
    await bookFirst(clinic, await patientOf(clinic));
    const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 3) };
    const options = await optionsFor(clinic, { patientId: await patientOf(clinic), ...dates });
    const request = { serviceId: clinic.serviceId, ...dates, pageSize: 4 };
    const slots = (await walkPages(service, searchAvailability, "slots", request, { as: clinic.as })).flat();
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

  test("keeps to the periods, the practitioner, the location and the kind of program", async () => {
    const clinic = await openOwn();
    const emergency = { as: clinic.as, serviceId: clinic.serviceId, program: { emergency: true } };
    const ward = await openClinic(service, emergency);
    const [practitionerId = ""] = clinic.practitionerIds;
    const programs = async (wish: JsonObject) =>
      new Set((await available(clinic, wish)).map(({ programId }) => programId));
    expect(await programs({})).toEqual(new Set([clinic.programId]));
    expect(await programs({ includeEmergency: true })).toEqual(new Set([clinic.programId, ward.programId]));
    expect(await programs({ includeEmergency: true, practitionerId })).toEqual(new Set([clinic.programId]));
    expect(await programs({ locationId: randomUUID() })).toEqual(new Set());
    expect(await programs({ periods: ["MORNING"] })).toEqual(new Set([clinic.programId]));
    expect(await programs({ periods: ["NIGHT"] })).toEqual(new Set());
  });

  test("gives nothing of another tenant, and nothing for a service that there is not", async () => {
    const clinic = await openOwn();
    expect(await available(clinic, {}, { as: { tenantId: randomUUID() } })).toEqual([]);
    expect(await available(clinic, { serviceId: randomUUID() })).toEqual([]);
  });

  test("refuses a page token of another wish", async () => {
    const clinic = await openOwn();
    const request = { serviceId: clinic.serviceId, ...oneDay(clinic, 2) };
    const filters = { request, other: { ...request, periods: ["MORNING"] } };
    await expectTokenIsBound(service, searchAvailability, filters, { as: clinic.as });
  });

  test("looks at 91 days at most", async () => {
    const dates = { serviceId: randomUUID(), dateFrom: "2030-01-01", dateTo: "2030-04-02" };
    expectRefusal(await callRpc(service, searchAvailability, dates), 422, ["dateTo INVALID_RANGE"]);
  });
});

/** A clinic in a tenant of its own. */
async function openOwn({ practitioners = 1, rule = {} }: { practitioners?: number; rule?: JsonObject } = {}) {
  const as = { tenantId: randomUUID() };
  const made = Array.from({ length: practitioners }, () => makers.practitioner.create(service, as));
  return openClinic(service, { as, practitionerIds: await Promise.all(made), rule });
}

function patientOf({ as }: Clinic): Promise<string> {
  return makers.createPatient(service, {}, as);
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

/** The counts of these practitioners on a day of the clinic's program. */
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
  return { ...slots, bookedAppointmentCount: 0, retainedAppointmentCount: 0, blockedMinutes: 0, ...changes };
}

function available(clinic: Clinic, wish: JsonObject, changes: RpcChanges = { as: clinic.as }): Promise<Item[]> {
  const request = { serviceId: clinic.serviceId, ...oneDay(clinic, 2), ...wish };
  return callRpc(service, searchAvailability, request, changes).then((answer) => itemsIn(answer, "slots"));
}

function idOf(appointment: object): string {
  return String(Object.values(appointment)[0]);
}
