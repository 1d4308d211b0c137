import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OpportunityService } from "../../src/gen/cupo/clinic/v1/opportunity_service_pb.js";
import { lastDayOfWait } from "../../src/scheduling/last-day-of-wait.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic, search } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { appointmentType, createResource, opportunityDefinition } from "./resources-under-test.js";
import { expectRefusal, expectTokenIsBound, type Item, itemsIn, walkPages } from "./rpc-under-test.js";

const { listOpportunityBreaches } = OpportunityService.method;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("ListOpportunityBreaches", () => {
  test("lists appointments after the last date that the definition of their type allows, not those on it", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    const inTime = await bookFirst(clinic, await patientOf(clinic), onDay(clinic, 3));
    const late = await bookFirst(clinic, await patientOf(clinic), onDay(clinic, 4));
    expect(await breachesOf(clinic)).toEqual([
      {
        appointmentId: idOf(late),
        serviceId: clinic.serviceId,
        appointmentTypeId: clinic.appointmentTypeId,
        requestedOn: day(clinic, 0),
        dueOn: day(clinic, 3),
        appointmentOn: day(clinic, 4),
      },
    ]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId: idOf(inTime) });
    expect(appointment).toMatchObject({ requestedOn: day(clinic, 0), dueOn: day(clinic, 3) });
  });

  test("counts business days without weekends and active holidays", async () => {
    const clinic = await openOwn({ maxWaitDays: 5, dayKind: "BUSINESS" });
    const holidays = [1, 2, 3, 4, 5, 6, 7].map((days) => day(clinic, days)).slice(2, 4);
    const create = (date: string, active = true) => mustCall(clinic, "CreateHoliday", { date, name: "Fiesta", active });
    await Promise.all(holidays.map((date) => create(date)));
    for (const days of [1, 2, 5, 6, 7]) await create(day(clinic, days), false);
    const { dueOn } = await searchOn(clinic, 1);
    expect(dueOn).toBe(lastDayOfWait(day(clinic, 0), { maxWaitDays: 5, dayKind: "BUSINESS" }, holidays));
  });

  test("uses the definition as it was when the appointment was requested, and none that is not in force", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    await bookFirst(clinic, await patientOf(clinic), onDay(clinic, 5));
    const { opportunityDefinitionId } = clinic;
    const change = (changes: JsonObject) =>
      mustCall(clinic, "UpdateOpportunityDefinition", { opportunityDefinitionId, ...changes });
    await change({ maxWaitDays: 30, expectedVersion: 1 });
    expect(await breachesOf(clinic)).toHaveLength(1);
    await change({ maxWaitDays: 1, active: false, expectedVersion: 2 });
    await bookFirst(clinic, await patientOf(clinic), onDay(clinic, 6));
    expect(await breachesOf(clinic)).toHaveLength(1);
  });

  test("omits appointments that were cancelled or moved to a date in time, and lists those moved out of time", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    const [first, second] = [await patientOf(clinic), await patientOf(clinic)];
    const moved = await bookFirst(clinic, first, onDay(clinic, 4));
    const cancelled = await bookFirst(clinic, second, onDay(clinic, 5));
    expect(await breachesOf(clinic)).toHaveLength(2);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    const end = { appointmentId: idOf(cancelled), cancellationReasonId, expectedVersion: 1, comment: "Viaje." };
    await mustCall(clinic, "CancelAppointment", end);
    await move(clinic, idOf(moved), 1, 2);
    expect(await breachesOf(clinic)).toEqual([]);
    await move(clinic, idOf(moved), 2, 6);
    expect((await breachesOf(clinic)).map(({ appointmentId }) => appointmentId)).toEqual([idOf(moved)]);
  });

  test("lists open waitlist entries after the last date of their service", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    const entry = await enter(clinic);
    const closed = await enter(clinic);
    await enter(clinic, await fixtures.createPatient(service, {}, clinic.as), {
      serviceId: await plainService(clinic),
    });
    const { body } = await call(clinic, "GetWaitlistEntry", { waitlistEntryId: closed });
    const { version, dueOn: shown } = body["waitlistEntry"] as { version?: number; dueOn?: string };
    expect(shown).toBe(day(clinic, 3));
    const close = { waitlistEntryId: closed, reason: "Se atendió.", ...(version && { expectedVersion: version }) };
    await mustCall(clinic, "CloseWaitlistEntry", close);
    const [requestedOn, dueOn] = [day(clinic, 0), day(clinic, 3)];
    service.advance(3 * 86_400_000);
    expect(await breachesOf(clinic)).toEqual([]);
    service.advance(86_400_000);
    expect(await breachesOf(clinic)).toEqual([
      { waitlistEntryId: entry, serviceId: clinic.serviceId, requestedOn, dueOn },
    ]);
  });

  test("lists both by due date, applies its filters and binds its page tokens to them", async () => {
    const clinic = await openOwn({ maxWaitDays: 1 });
    const date = day(clinic, 1);
    for (const days of [3, 4, 5]) await bookFirst(clinic, await patientOf(clinic), onDay(clinic, days));
    for (const _ of [1, 2]) await enter(clinic);
    service.advance(2 * 86_400_000);
    const all = (await walkPages(service, listOpportunityBreaches, MEMBER, { pageSize: 2 }, { as: clinic.as })).flat();
    expect(all).toHaveLength(5);
    expect(all.map(({ dueOn }) => dueOn)).toEqual(all.map(() => date));
    const ids = all.map((item) => String(item["appointmentId"] ?? item["waitlistEntryId"]));
    expect(ids).toEqual(Array.from(new Set(ids)).toSorted());
    expect(await breachesOf(clinic, { dateTo: day(clinic, -3) })).toEqual([]);
    expect(await breachesOf(clinic, { dateFrom: date, dateTo: date, serviceId: clinic.serviceId })).toHaveLength(5);
    expect(await breachesOf(clinic, { dateFrom: day(clinic, 0) })).toEqual([]);
    expect(await breachesOf(clinic, { serviceId: randomUUID() })).toEqual([]);
    const filters = { request: {}, other: { dateFrom: date } };
    await expectTokenIsBound(service, listOpportunityBreaches, filters, { as: clinic.as });
  });

  test("returns nothing of another tenant, names no patient and writes nothing", async () => {
    const clinic = await openOwn({ maxWaitDays: 1 });
    const patientId = await patientOf(clinic);
    await bookFirst(clinic, patientId, onDay(clinic, 3));
    expect(await breachesOf({ ...clinic, as: { tenantId: randomUUID() } })).toEqual([]);
    const answer = await callRpc(service, listOpportunityBreaches, {}, { as: clinic.as });
    expect(answer.text).not.toContain(patientId);
    expect(await auditOf(service, answer)).toEqual([]);
  });

  test("rejects a last date before the first", async () => {
    const dates = { dateFrom: "2026-01-02", dateTo: "2026-01-01" };
    expectRefusal(await callRpc(service, listOpportunityBreaches, dates), 422, ["dateTo INVALID_RANGE"]);
  });
});

describe("options", () => {
  test("show whether they are after the last date that the service's definition allows, counted from today", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    for (const [days, overdue] of [
      [3, false],
      [4, true],
    ] as const) {
      const found = await searchOn(clinic, days);
      expect(found["dueOn"]).toBe(day(clinic, 3));
      expect(new Set((found["options"] as Item[]).map((option) => option["overdue"]))).toEqual(new Set([overdue]));
    }
  });

  test("count from the date of a waitlist entry, or from the booking of an appointment", async () => {
    const clinic = await openOwn({ maxWaitDays: 3 });
    const waitlistEntryId = await enter(clinic);
    const { appointmentId, serviceId } = {
      ...clinic,
      appointmentId: idOf(await bookFirst(clinic, await patientOf(clinic))),
    };
    const dueOn = day(clinic, 3);
    service.advance(86_400_000);
    expect(await mustCall(clinic, "MatchWaitlistEntry", { waitlistEntryId })).toMatchObject({ dueOn });
    const dates = { dateFrom: day(clinic, 1), dateTo: day(clinic, 5) };
    const options = await mustCall(clinic, "SearchAppointmentOptions", { appointmentId, serviceId, ...dates });
    expect(options).toMatchObject({ dueOn });
  });

  test("have no such date if no definition applies", async () => {
    const clinic = await openClinic(service, { serviceId: await plainService({ as: {} }) });
    expect(await searchOn(clinic, 4)).not.toHaveProperty("dueOn");
  });
});

test("a service cannot refer to an opportunity definition that the token cannot access: 404", async () => {
  const hidden = await createResource(service, opportunityDefinition, {}, { tenantId: randomUUID() });
  const named = { code: randomUUID(), name: "Medicina general", active: true };
  const clinic = { service, as: {} };
  const missing = ["opportunityDefinitionId NOT_FOUND"];
  const request = { ...named, opportunityDefinitionId: hidden.id };
  expectRefusal(await call(clinic, "CreateHealthcareService", request), 404, missing);
  const serviceId = await fixtures.healthcareService.create(service, {});
  const change = { serviceId, opportunityDefinitionId: hidden.id, expectedVersion: 1 };
  expectRefusal(await call(clinic, "UpdateHealthcareService", change), 404, missing);
});

const MEMBER = "opportunityBreaches";

/** Opens a clinic in a new tenant, whose service and appointment type have one opportunity definition. */
async function openOwn(definition: JsonObject) {
  const as = { tenantId: randomUUID() };
  const limit = { dayKind: "CALENDAR", ...definition };
  const { id: opportunityDefinitionId } = await createResource(service, opportunityDefinition, limit, as);
  const make = { code: randomUUID(), name: "Medicina general", active: true, opportunityDefinitionId };
  const made = await mustCall({ service, as }, "CreateHealthcareService", make);
  const type = await createResource(service, appointmentType, { opportunityDefinitionId }, as);
  const clinic = await openClinic(service, { as, serviceId: idOf(made["healthcareService"] as object) });
  return { ...clinic, appointmentTypeId: type.id, opportunityDefinitionId };
}

async function plainService({ as }: Pick<Clinic, "as">): Promise<string> {
  const request = { code: randomUUID(), name: "Odontología", active: true };
  return idOf((await mustCall({ service, as }, "CreateHealthcareService", request))["healthcareService"] as object);
}

function patientOf({ as }: Clinic): Promise<string> {
  return fixtures.createPatient(service, {}, as);
}

async function enter(clinic: Clinic, patientId?: string, changes: JsonObject = {}): Promise<string> {
  const whose = { patientId: patientId ?? (await patientOf(clinic)), serviceId: clinic.serviceId };
  return deskFixtures(service, clinic.as).entry({
    ...whose,
    dateFrom: day(clinic, 0),
    dateTo: day(clinic, 30),
    ...changes,
  });
}

async function move(clinic: Clinic, appointmentId: string, expectedVersion: number, days: number): Promise<void> {
  const criteria = { appointmentId, serviceId: clinic.serviceId, ...onDay(clinic, days) };
  const { options } = await mustCall(clinic, "SearchAppointmentOptions", criteria);
  const [option] = options as readonly Item[];
  const optionToken = String(option?.["optionToken"]);
  await mustCall(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion });
}

function onDay(clinic: Clinic, days: number) {
  return { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
}

async function searchOn(clinic: Clinic, days: number): Promise<Item> {
  const answer = await search(clinic, { patientId: await patientOf(clinic), ...onDay(clinic, days) });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function breachesOf({ as }: Pick<Clinic, "as">, request: JsonObject = {}): Promise<Item[]> {
  return itemsIn(await callRpc(service, listOpportunityBreaches, request, { as }), MEMBER);
}

function idOf(message: object): string {
  return String(Object.values(message)[0]);
}
