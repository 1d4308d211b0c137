import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  awaitStep,
  bookFirst,
  type Clinic,
  day,
  everyMorning,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal, expectTokenIsBound, idsOf, itemsIn, walkPages } from "./rpc-under-test.js";

const { listAppointments, listAppointmentChanges } = BookingService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(() => service.close());

describe("ListAppointments", () => {
  test("returns all appointments page by page, ordered by start and id, unchanged", async () => {
    const crowd = await openCrowd();
    const booked = [];
    for (const [patientId, days] of [
      [crowd.patients[0], 4],
      [crowd.patients[1], 2],
      [crowd.patients[2], 2],
      [crowd.patients[1], 3],
      [crowd.patients[0], 2],
    ] as const) {
      booked.push(await bookOn(crowd.clinic, `${patientId}`, days));
    }
    const sorted = booked.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
    expect(new Set(sorted.map(({ startsAt }) => startsAt)).size).toBeLessThan(5);
    for (const pageSize of [1, 2, 3, 5]) expect(await walk(crowd.clinic, { pageSize })).toEqual(sorted);
    const { as } = crowd.clinic;
    const request = { practitionerId: booked[0]?.practitionerId ?? "" };
    await expectTokenIsBound(service, listAppointments, { request: {}, other: request }, { as });
    const foreign = await callRpc(service, listAppointments, {}, { as: { tenantId: randomUUID() } });
    expect(itemsIn(foreign, "appointments")).toEqual([]);
  });

  test("returns only appointments that match the filters, for each filter", async () => {
    const { clinic: first, patients } = await openCrowd();
    const second = await openClinic(service, { as: first.as });
    const [ana = "", luz = ""] = patients;
    const anas = await bookOn(first, ana, 2);
    const luzs = await bookOn(first, luz, 3);
    const other = await bookOn(second, ana, 3);
    await mustCall(first, "ConfirmAppointment", { appointmentId: luzs.appointmentId, expectedVersion: 1 });
    const found = async (filter: JsonObject) => idsOf(await walk(first, { ...filter, pageSize: 1 }));
    expect(await found({ patientId: ana })).toEqual([anas.appointmentId, other.appointmentId]);
    expect(await found({ programId: first.programId })).toEqual([anas.appointmentId, luzs.appointmentId]);
    expect(await found({ practitionerId: other.practitionerId })).toEqual([other.appointmentId]);
    expect(await found({ dateFrom: day(first, 2), dateTo: day(first, 2) })).toEqual([anas.appointmentId]);
    expect(await found({ dateFrom: day(first, 3) })).toEqual(
      [luzs.appointmentId, other.appointmentId].toSorted(byStart([luzs, other])),
    );
    expect(await found({ dateFrom: day(first, 4) })).toEqual([]);
    expect(await found({ statuses: ["CONFIRMED"] })).toEqual([luzs.appointmentId]);
    expect(await found({ statuses: ["NO_SHOW"] })).toEqual([]);
    expect(await found({ statuses: ["NO_SHOW", "CONFIRMED"] })).toEqual([luzs.appointmentId]);
    expect(await found({ statuses: ["PENDING", "CONFIRMED"], programId: first.programId })).toEqual(
      [anas, luzs].map(({ appointmentId }) => appointmentId),
    );
    const [{ locationId = "" } = {}] = await walk(first, { programId: second.programId, pageSize: 1 });
    expect(await found({ locationId: String(locationId) })).toEqual([other.appointmentId]);
    expect(await found({ locationId: String(locationId), statuses: ["CANCELLED", "CONFIRMED"] })).toEqual([]);
    expect(await found({ dateTo: day(first, 2) })).toEqual([anas.appointmentId]);
    expect(await found({ patientId: ana, programId: second.programId, statuses: ["PENDING"] })).toEqual([
      other.appointmentId,
    ]);
    expect(await found({ patientId: randomUUID() })).toEqual([]);
  });

  test("takes dates as days in America/Bogota, up to the last minute", async () => {
    const rule = { startsAtLocal: "22:30", endsAtLocal: "23:59" };
    const late = await openClinic(service, { as: { tenantId: randomUUID() }, rule });
    const patientId = await fixtures.patient.create(service, late.as);
    const { appointmentId: id, startsAt } = await bookFirst(late, patientId, {}, 2);
    expect(startsAt.slice(0, 10)).toBe(day(late, 3));
    expect(idsOf(await walk(late, { dateFrom: day(late, 2), dateTo: day(late, 2), pageSize: 5 }))).toEqual([id]);
    expect(await walk(late, { dateFrom: day(late, 3), pageSize: 5 })).toEqual([]);
  });

  test("shows which appointments are displaced, and filters by that", async () => {
    const { clinic: own, patients } = await openCrowd();
    const kept = await openClinic(service, { as: own.as });
    const { appointmentId: other } = await bookOn(kept, `${patients[1]}`, 2);
    const ids = [2, 3, 4].map(async (days) => (await bookOn(own, `${patients[0]}`, days)).appointmentId);
    const [id = "", second = "", third = ""] = await Promise.all(ids);
    const { programId, ruleId } = own;
    await mustCall(own, "UpdateProgramRule", { programId, ruleId, active: false, expectedVersion: 1 });
    const found = async (filter: JsonObject) => idsOf(await walk(own, { ...filter, pageSize: 1 }));
    const [all] = await walk(own, { pageSize: 5, patientId: `${patients[0]}` });
    expect(all).toMatchObject({ appointmentId: id, displaced: true });
    expect(await found({ displaced: true })).toEqual([id, second, third]);
    expect(await found({ displaced: false })).toEqual([other]);
    expect(await found({ displaced: true, patientId: `${patients[0]}` })).toEqual([id, second, third]);
    expect(await found({ displaced: true, patientId: `${patients[1]}` })).toEqual([]);
    expect(await found({ displaced: true, programId: kept.programId })).toEqual([]);
    expect(await found({ displaced: true, dateFrom: day(own, 3), statuses: ["PENDING"] })).toEqual([second, third]);
    expect(await found({ displaced: true, statuses: ["CONFIRMED", "CHECKED_IN"] })).toEqual([]);
    expect(await found({ displaced: true, locationId: String(all?.["locationId"]) })).toEqual([id, second, third]);
    expect(await found({ displaced: true, locationId: randomUUID() })).toEqual([]);
  });

  test.each<[JsonObject, string]>([
    [{ dateFrom: "2026-03-02", dateTo: "2026-03-01" }, "dateTo INVALID_RANGE"],
    [{ dateFrom: "2026-01-01", dateTo: "2027-01-03" }, "dateTo INVALID_RANGE"],
    [{ dateFrom: "2026-02-30" }, "dateFrom INVALID_DATE"],
    [{ statuses: ["PENDING", "PENDING"] }, "statuses[1] DUPLICATE"],
    [{ statuses: [0] }, "statuses[0] INVALID_VALUE"],
    [{ locationId: "1" }, "locationId INVALID_UUID"],
  ])("rejects %o: %s", async (request, item) => {
    expectRefusal(await callRpc(service, listAppointments, request), 422, [item]);
  });

  test("accepts a span of 366 days", async () => {
    const answer = await callRpc(service, listAppointments, { dateFrom: "2026-01-01", dateTo: "2027-01-02" });
    expect(answer.status).toBe(200);
  });
});

describe("ListAppointmentChanges", () => {
  test("returns each change, the oldest first, starting with the booking", async () => {
    const booked = await bookOn(clinic, await fixtures.patient.create(service, {}), 5);
    const { appointmentId: id, startsAt, endsAt, practitionerId, locationId } = booked;
    await mustCall(clinic, "ConfirmAppointment", { appointmentId: id, expectedVersion: 1 });
    awaitStep(clinic, "CheckInAppointment", booked);
    const arrived = await callRpc(service, BookingService.method.checkInAppointment, {
      appointmentId: id,
      expectedVersion: 2,
    });
    const slot = { startsAt, endsAt, programId: clinic.programId, practitionerId, locationId };
    const changes = await walkPages(service, listAppointmentChanges, "changes", { appointmentId: id, pageSize: 2 });
    expect(changes.flat()).toEqual([
      { ...common(id, 1), toStatus: "PENDING", toSlot: slot },
      { ...common(id, 2), fromStatus: "PENDING", toStatus: "CONFIRMED", fromSlot: slot, toSlot: slot },
      { ...common(id, 3), fromStatus: "CONFIRMED", toStatus: "CHECKED_IN", fromSlot: slot, toSlot: slot },
    ]);
    expect(changes.flat().at(-1)?.["correlationId"]).toBe(arrived.headers.get("x-correlation-id"));
    const other = await bookOn(clinic, await fixtures.patient.create(service, {}), 6);
    const requests = { request: { appointmentId: id }, other: { appointmentId: other.appointmentId } };
    await expectTokenIsBound(service, listAppointmentChanges, requests);
  });
});

function common(appointmentId: string, version: number) {
  return {
    appointmentId,
    version,
    changedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    principal: expect.stringContaining("test"),
    correlationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  };
}

/** Opens a tenant with three patients and a program with three practitioners. */
async function openCrowd() {
  const as = { tenantId: randomUUID() };
  const three = [0, 1, 2];
  const practitionerIds = await Promise.all(three.map(() => fixtures.practitioner.create(service, as)));
  const patients = await Promise.all(three.map(() => fixtures.patient.create(service, as)));
  return { clinic: await openClinic(service, { as, practitionerIds, rule: everyMorning }), patients };
}

function bookOn(where: Clinic, patientId: string, days: number): Promise<AppointmentBody> {
  return bookFirst(where, patientId, { dateFrom: day(where, days), dateTo: day(where, days) });
}

async function walk({ as }: Clinic, request: JsonObject & { readonly pageSize: number }) {
  return (await walkPages(service, listAppointments, "appointments", request, { as })).flat();
}

function order({ startsAt, appointmentId }: AppointmentBody): string {
  return startsAt + appointmentId;
}

function byStart(appointments: readonly AppointmentBody[]) {
  const orders = new Map(appointments.map((appointment) => [appointment.appointmentId, order(appointment)]));
  return (a: string, b: string) => (`${orders.get(a)}` < `${orders.get(b)}` ? -1 : 1);
}
