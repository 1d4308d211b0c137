import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as makers from "../contract/makers.js";
import {
  type AppointmentBody,
  bookFirst,
  type Clinic,
  day,
  mustCall,
  type OptionBody,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { brokenInvariants } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { expectProblem } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

vi.mock("../../src/services/services.js", async (original) =>
  (await import("../schedule/with-rescheduling.js")).withRescheduling(original),
);

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(async () => {
  const broken = await brokenInvariants(service);
  await service.close();
  expect(broken).toEqual([]);
});

/** An appointment and the options that it can be moved to. */
interface Move {
  readonly clinic: Clinic;
  readonly appointment: AppointmentBody;
  readonly options: readonly OptionBody[];
}

describe("a success", () => {
  test("gives the Appointment and nothing else: same id and status, new time, version 2", async () => {
    const { appointment, options } = await prepare();
    const answer = await send(appointment.id, tokenOf(options));
    expect(answer.status).toBe(200);
    const [option] = options;
    expect(answer.body).toEqual({
      id: appointment.id,
      patientId: appointment.patientId,
      serviceId: expect.any(String),
      startsAt: option?.startsAt,
      endsAt: option?.endsAt,
      status: "PENDING",
      version: 2,
    });
  });

  test("is the same over RPC, and keeps the status CONFIRMED", async () => {
    const { clinic, appointment, options } = await prepare();
    await mustCall(clinic, "ConfirmAppointment", { appointmentId: appointment.id, expectedVersion: 1 });
    const request = { appointmentId: appointment.id, optionToken: tokenOf(options), expectedVersion: 2 };
    const { appointment: moved } = await mustCall(clinic, "RescheduleAppointment", request);
    expect(moved).toMatchObject({
      id: appointment.id,
      status: "CONFIRMED",
      version: 3,
      startsAt: options[0]?.startsAt,
    });
  });

  test("frees the slot for somebody else", async () => {
    const { clinic, appointment, options } = await prepare();
    await send(appointment.id, tokenOf(options));
    const patientId = await makers.createPatient(service);
    expect((await bookFirst(clinic, patientId)).startsAt).toBe(appointment.startsAt);
  });

  test("moves the unit of capacity to another day, and none within a day, be it full", async () => {
    const { clinic, appointment, options } = await prepare({ dailyCapacity: 1 });
    expect((await send(appointment.id, tokenOf(options))).status).toBe(200);
    expect(await bookedOn(clinic)).toEqual({ [day(clinic, 2)]: 1 });
    const later = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const [other] = await optionsFor(clinic, { appointmentId: appointment.id, ...later });
    expect((await send(appointment.id, `${other?.optionToken}`, 2)).status).toBe(200);
    expect(await bookedOn(clinic)).toEqual({ [day(clinic, 2)]: 0, [day(clinic, 3)]: 1 });
  });

  test("leaves one audit row and one row of history, in one commit with the appointment", async () => {
    const { appointment, options } = await prepare();
    const answer = await send(appointment.id, tokenOf(options));
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "UPDATE", resource_type: "Appointment", resource_id: appointment.id, resource_version: 2 },
    ]);
    const correlation = `correlation_id = '${answer.headers.get("x-correlation-id")}'`;
    const commits = await service.query(
      `SELECT xmin::text FROM appointments WHERE id = '${appointment.id}'
       UNION SELECT xmin::text FROM appointment_history WHERE ${correlation}
       UNION SELECT xmin::text FROM audit_events WHERE ${correlation}
       UNION SELECT xmin::text FROM idempotency_keys WHERE ${correlation}
       UNION SELECT xmin::text FROM slots WHERE appointment_id = '${appointment.id}'`,
    );
    expect(commits).toHaveLength(1);
    const history = await service.query(
      `SELECT version, from_status, to_status, from_starts_at, to_starts_at FROM appointment_history
       WHERE appointment_id = '${appointment.id}' ORDER BY version`,
    );
    expect(history[1]).toEqual({
      version: 2,
      from_status: "PENDING",
      to_status: "PENDING",
      from_starts_at: new Date(appointment.startsAt),
      to_starts_at: new Date(`${options[0]?.startsAt}`),
    });
  });

  test("is replayed, though its token is used up", async () => {
    const { appointment, options } = await prepare();
    const headers = { "idempotency-key": randomUUID() };
    const first = await send(appointment.id, tokenOf(options), 1, { headers });
    const second = await send(appointment.id, tokenOf(options), 1, { headers });
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("404", () => {
  test("for an appointment that does not exist, is no UUID, or is another tenant's", async () => {
    const { appointment, options } = await prepare();
    for (const id of [randomUUID(), "42"]) expectProblem(await send(id, tokenOf(options)), 404);
    const token = await service.token({ tenantId: randomUUID() });
    expectProblem(await send(appointment.id, tokenOf(options), 1, { token }), 404);
  });
});

describe("409", () => {
  test("for another version, before anything else is looked at", async () => {
    const { clinic, appointment } = await prepare();
    await cancel(clinic, appointment);
    expectProblem(await send(appointment.id, "garbage", 1), 409, ["expectedVersion STALE_VERSION"]);
  });

  test.each(["CHECKED_IN", "ATTENDED", "CANCELLED", "NO_SHOW"])("for one that is %s", async (status) => {
    const { clinic, appointment, options } = await prepare();
    const version = await bringTo(status, clinic, appointment);
    const answer = await send(appointment.id, tokenOf(options), version);
    expectProblem(answer, 409, ["appointmentId STATE_NOT_ALLOWED"]);
    expectProblem(await send(appointment.id, "garbage", version), 409, ["appointmentId STATE_NOT_ALLOWED"]);
  });

  test("for a patient who is not active", async () => {
    const { clinic, appointment, options } = await prepare();
    const { patientId } = appointment;
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectProblem(await send(appointment.id, tokenOf(options)), 409, ["appointmentId PATIENT_NOT_ACTIVE"]);
  });

  test("for a slot that somebody else took", async () => {
    const { clinic, appointment, options } = await prepare();
    await bookFirst(clinic, await makers.createPatient(service));
    expectProblem(await send(appointment.id, tokenOf(options)), 409, ["optionToken SLOT_OCCUPIED"]);
  });

  test("for a day whose capacity is used up, and the token is as good as before", async () => {
    const { clinic, appointment } = await prepare({ dailyCapacity: 1 });
    const later = { dateFrom: day(clinic, 3), dateTo: day(clinic, 3) };
    const [option] = await optionsFor(clinic, { appointmentId: appointment.id, ...later });
    const inTheWay = await bookFirst(clinic, await makers.createPatient(service), later, 4);
    const token = `${option?.optionToken}`;
    expectProblem(await send(appointment.id, token), 409, ["optionToken CAPACITY_EXHAUSTED"]);
    await cancel(clinic, inTheWay);
    expect((await send(appointment.id, token)).status).toBe(200);
  });

  test("for a patient who is expected elsewhere by then", async () => {
    const { appointment, options } = await prepare();
    const elsewhere = await openClinic(service);
    await bookFirst(elsewhere, appointment.patientId);
    expectProblem(await send(appointment.id, tokenOf(options)), 409, ["optionToken PATIENT_OVERLAP"]);
  });
});

describe("410", () => {
  test("for a token that was used", async () => {
    const { appointment, options } = await prepare();
    await send(appointment.id, tokenOf(options));
    const [, second] = options;
    await send(appointment.id, `${second?.optionToken}`, 2);
    expectProblem(await send(appointment.id, tokenOf(options), 3), 410);
  });

  test("for a slot that the rules no longer have", async () => {
    const { clinic, appointment, options } = await prepare();
    const { programId, ruleId } = clinic;
    await mustCall(clinic, "UpdateProgramRule", { programId, ruleId, expectedVersion: 1, slotDurationMinutes: 20 });
    expectProblem(await send(appointment.id, `${options[2]?.optionToken}`), 410);
  });

  test("for a token whose time is over", async () => {
    const late = await startTestService();
    try {
      const { appointment, options } = await prepare({}, late);
      late.advance(10 * 60_000);
      const answer = await send(appointment.id, tokenOf(options), 1, {}, late);
      expectProblem(answer, 410);
    } finally {
      await late.close();
    }
  });
});

describe("422", () => {
  test("for what is no token, and for that of a patient, another appointment or another tenant", async () => {
    const { clinic, appointment } = await prepare();
    const other = await prepare();
    const foreign = await prepare({}, service, randomUUID());
    const [forPatient] = await optionsFor(clinic, { patientId: appointment.patientId });
    const tokens = ["garbage", forPatient?.optionToken, tokenOf(other.options), tokenOf(foreign.options)];
    for (const token of tokens)
      expectProblem(await send(appointment.id, `${token}`), 422, ["optionToken INVALID_OPTION"]);
  });
});

async function prepare(rule: JsonObject = {}, at = service, tenantId = at.tenantId): Promise<Move> {
  const as = { tenantId };
  const clinic = await openClinic(at, { rule, as });
  const patientId = await makers.createPatient(at, {}, as);
  const appointment = await bookFirst(clinic, patientId);
  return { clinic, appointment, options: await optionsFor(clinic, { appointmentId: appointment.id }) };
}

function send(
  appointmentId: string,
  optionToken: string,
  expectedVersion = 1,
  changes: { readonly token?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  at = service,
): Promise<RestAnswer> {
  const body = { optionToken, expectedVersion };
  return at.request("POST", `/appointments/${appointmentId}/reschedule`, { ...changes, body });
}

function tokenOf(options: readonly OptionBody[]): string {
  return `${options[0]?.optionToken}`;
}

async function cancel(clinic: Clinic, { id, version }: AppointmentBody): Promise<void> {
  const cancellationReasonId = await makers.cancellationReason.create(service, {});
  const request = { appointmentId: id, expectedVersion: version, cancellationReasonId };
  await mustCall(clinic, "CancelAppointment", request);
}

/** Moves a pending appointment on to a status and gives its version. */
async function bringTo(status: string, clinic: Clinic, appointment: AppointmentBody): Promise<number> {
  const step = async (rpc: string, version: number, changes: JsonObject = {}) =>
    mustCall(clinic, rpc, { appointmentId: appointment.id, expectedVersion: version, ...changes });
  if (status === "CANCELLED") {
    await cancel(clinic, appointment);
    return 2;
  }
  await step("ConfirmAppointment", 1);
  if (status === "NO_SHOW") {
    await step("MarkNoShow", 2, { noShowReasonId: await makers.noShowReason.create(service, {}) });
    return 3;
  }
  await step("CheckInAppointment", 2);
  if (status === "CHECKED_IN") return 3;
  await step("MarkAttended", 3);
  return 4;
}

async function bookedOn({ ruleId }: Clinic): Promise<Record<string, unknown>> {
  const rows = await service.query(
    `SELECT local_date::text AS date, booked FROM day_counters WHERE rule_id = '${ruleId}' ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ date, booked }) => [date, booked]));
}
