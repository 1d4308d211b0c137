import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { bookFirst, type Clinic, call, commonCatalogs, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal } from "./rpc-under-test.js";
import { timedBooking } from "./timed-bookings.js";

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule: { dailyCapacity: 1 } });
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => closeConsistent(service, foundByTheService));

const requests = {
  BookAppointment: async () => ({ ...(await optionOf({ patientId })), ...(await booking()), patientId }),
  BookAppointmentAt: async () => timedBooking(clinic, { patientId }),
  OverbookAppointment: async () => timedBooking(clinic, { patientId, reason: "Urgencia.", durationMinutes: 25 }),
  HoldAppointmentOption: async () => optionOf({ patientId }),
  MoveAppointment: async () => {
    const { appointmentId } = await bookFirst(clinic, patientId, {}, 1);
    return { ...(await optionOf({ appointmentId })), appointmentId, expectedVersion: 1 };
  },
  CancelAppointment: async () => {
    const { appointmentId } = await bookFirst(clinic, patientId);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    return { appointmentId, expectedVersion: 1, cancellationReasonId };
  },
} satisfies Record<string, () => Promise<JsonObject>>;

describe.each(Object.entries(requests))("%s with validateOnly", (rpc, prepare) => {
  test("answers as the call would, and changes nothing", async () => {
    const request = await prepare();
    const before = await everything();
    const { status, body } = await call(clinic, rpc, { ...request, validateOnly: true });
    expect(status).toBe(200);
    expect(await everything()).toEqual(before);
    const done = await mustCall(clinic, rpc, request);
    expect(shapeOf(body)).toEqual(shapeOf(done));
    expect(await everything()).not.toEqual(before);
  });

  test("answers again what it answered, for the same key, and the key cannot serve the call", async () => {
    const request = await prepare();
    const headers = { "idempotency-key": randomUUID() };
    const send = (changes: JsonObject) =>
      callRpc(service, rpcNamed(rpc), { ...request, ...changes }, { as: clinic.as, headers });
    const [first, second] = [await send({ validateOnly: true }), await send({ validateOnly: true })];
    expect(second.text).toBe(first.text);
    expectRefusal(await send({}), 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"]);
  });
});

describe("a request that would be refused", () => {
  test("is refused with the same conflicts, also if only the capacity is missing", async () => {
    const request = await requests.BookAppointment();
    await bookFirst(clinic, await fixtures.createPatient(service, {}, clinic.as), {}, 1);
    const before = await everything();
    const headers = { "idempotency-key": randomUUID() };
    for (const validateOnly of [true, true, false]) {
      const sent = { ...request, validateOnly };
      const answer = await callRpc(service, rpcNamed("BookAppointment"), sent, { as: clinic.as, headers });
      expectRefusal(answer, 409, ["optionToken CAPACITY_EXHAUSTED"]);
    }
    expect(await everything()).toEqual(before);
  });

  test("leaves a waitlist entry open and an option token usable", async () => {
    const request = await requests.BookAppointment();
    const { serviceId } = clinic;
    const waitlistEntryId = await deskFixtures(service, clinic.as).entry({ patientId, serviceId });
    await mustCall(clinic, "BookAppointment", { ...request, waitlistEntryId, validateOnly: true });
    await mustCall(clinic, "BookAppointment", { ...request, waitlistEntryId });
  });
});

async function optionOf(subject: JsonObject): Promise<{ readonly optionToken: string }> {
  const [option] = await optionsFor(clinic, subject);
  return { optionToken: `${option?.optionToken}` };
}

async function booking(): Promise<JsonObject> {
  const { requestSourceId, appointmentTypeId } = await commonCatalogs(service, clinic.as);
  return { requestSourceId, appointmentTypeId };
}

/** Returns what a booking, a hold, a move or a cancellation can change. */
async function everything(): Promise<unknown> {
  const tenant = `tenant_id = '${clinic.as.tenantId}'`;
  const of = (columns: string, table: string) =>
    service.query(`SELECT ${columns} FROM ${table} WHERE ${tenant} ORDER BY 1, 2`);
  return Promise.all([
    of("id, version, status, starts_at", "appointments"),
    of("appointment_id, version", "appointment_history"),
    of("id, appointment_id", "slots"),
    of("rule_id, local_date, booked, held", "day_counters"),
    of("id, ended_at", "appointment_holds"),
    of("principal, held", "hold_holders"),
    of("resource_id, action", "audit_events"),
  ]);
}

/** Returns a response without the ids, the token and the times of the call. */
function shapeOf(body: Readonly<Record<string, unknown>>): JsonObject {
  const { appointment, hold } = body as Record<string, JsonObject | undefined>;
  const own = new Set(["appointmentId", "holdId", "optionToken", "createdAt", "updatedAt", "expiresAt"]);
  return Object.fromEntries(Object.entries(appointment ?? hold ?? {}).filter(([name]) => !own.has(name)));
}
