import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppointmentService } from "../../src/gen/cupo/access/v1/appointment_service_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { expectProblem } from "../support/problem.js";
import { rpcClient } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeCommonAnswers, type OperationUnderTest } from "./common-answers.js";
import { describeIdempotency } from "./idempotent-answers.js";
import { expectMoved, expectRefusal, prepareMove, sendMove, tokenOf } from "./reschedule-appointment-moves.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => closeConsistent(service));

const operation: OperationUnderTest = {
  method: "POST",
  scope: "appointments:reschedule",
  successStatus: 200,
  async prepare(target) {
    const move = await prepareMove(withoutQuota(target));
    const body = { optionToken: tokenOf(move), expectedVersion: 1 };
    return { path: `/appointments/${move.appointment.appointmentId}/reschedule`, body };
  },
};

describeCommonAnswers(operation, () => service);
describeIdempotency(operation, () => service);

describe("200", () => {
  test.each([
    ["PENDING", 1],
    ["CONFIRMED", 2],
  ])("moves an appointment with status %s, and keeps its id and status", async (status, version) => {
    const move = await prepareMove(service);
    const { clinic, appointment, options } = move;
    const confirmation = { appointmentId: appointment.appointmentId, expectedVersion: 1 };
    if (status === "CONFIRMED") await mustCall(clinic, "ConfirmAppointment", confirmation);
    const answer = await sendMove(move, { expectedVersion: version });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: appointment.appointmentId,
      patientId: appointment.patientId,
      serviceId: clinic.serviceId,
      startsAt: options[0]?.startsAt,
      endsAt: options[0]?.endsAt,
      status,
      version: version + 1,
    });
  });

  test("moves it to the location and practitioner of the option", async () => {
    const move = await prepareMove(service);
    const { serviceId } = move.clinic;
    const other = await openClinic(service, { serviceId });
    const options = await optionsFor(other, { appointmentId: move.appointment.appointmentId });
    const option = options.find(({ programId }) => programId === other.programId);
    await expectMoved(move, { optionToken: option?.optionToken });
    const { appointment } = await mustCall(other, "GetAppointment", { appointmentId: move.appointment.appointmentId });
    const { programId, practitionerId, locationId, startsAt, endsAt } = option ?? {};
    expect(appointment).toMatchObject({ programId, practitionerId, locationId, startsAt, endsAt, displaced: false });
  });

  test("frees its former slot for other bookings", async () => {
    const move = await prepareMove(service);
    await expectMoved(move);
    const next = await bookFirst(move.clinic, await fixtures.createPatient(service));
    expect(next.startsAt).toBe(move.appointment.startsAt);
  });

  test("restores the capacity of its former day, and uses that of the new day", async () => {
    const move = await prepareMove(service, { rule: { dailyCapacity: 1 } });
    const { clinic, appointment } = move;
    const patientId = await fixtures.createPatient(service);
    const [there, here] = [3, 2].map((days) => ({ dateFrom: day(clinic, days), dateTo: day(clinic, days) }));
    expect(await optionsFor(clinic, { patientId, ...here })).toHaveLength(0);
    await expectMoved({
      ...move,
      options: await optionsFor(clinic, { appointmentId: appointment.appointmentId, ...there }),
    });
    expect(await optionsFor(clinic, { patientId, ...here })).toHaveLength(8);
    expect(await optionsFor(clinic, { patientId, ...there })).toHaveLength(0);
  });

  test("uses no second unit of capacity within its day", async () => {
    const move = await prepareMove(service, { rule: { dailyCapacity: 1 } });
    await expectMoved(move);
    expect(await optionsFor(move.clinic, { patientId: await fixtures.createPatient(service) })).toHaveLength(0);
  });

  test("removes a slot that was retained for the appointment", async () => {
    const { clinic, appointment } = await prepareMove(service);
    const { programId, ruleId } = clinic;
    const change = { programId, ruleId, expectedVersion: 1, startsAtLocal: "09:00:00" };
    await mustCall(clinic, "UpdateProgramRule", change);
    const displaced = () => mustCall(clinic, "ListDisplacedAppointments", { programId });
    expect((await displaced())["appointments"]).toMatchObject([{ appointmentId: appointment.appointmentId }]);
    const options = await optionsFor(clinic, { appointmentId: appointment.appointmentId });
    await expectMoved({ clinic, appointment, options });
    expect((await displaced())["appointments"]).toEqual([]);
    expect(await optionsFor(clinic, { patientId: await fixtures.createPatient(service) })).toHaveLength(5);
  });

  test("writes one audit row in the transaction of the appointment, its slot, its history and the stored result", async () => {
    const move = await prepareMove(service);
    const answer = await sendMove(move);
    const { appointmentId: id } = move.appointment;
    expect(await auditOf(service, answer)).toEqual([
      {
        tenant_id: service.tenantId,
        operation: "cupo.access.v1.AppointmentService/RescheduleAppointment",
        principal: expect.stringMatching(/\btest$/),
        action: "UPDATE",
        resource_type: "Appointment",
        resource_id: id,
        resource_version: 2,
      },
    ]);
    const ofThisRequest = `correlation_id = '${answer.headers.get("x-correlation-id")}'`;
    const commits = await service.query(
      `SELECT xmin::text FROM appointments WHERE id = '${id}'
       UNION SELECT xmin::text FROM slots WHERE appointment_id = '${id}'
       UNION SELECT xmin::text FROM appointment_history WHERE ${ofThisRequest}
       UNION SELECT xmin::text FROM audit_events WHERE ${ofThisRequest}
       UNION SELECT xmin::text FROM idempotency_keys WHERE ${ofThisRequest}`,
    );
    expect(commits).toHaveLength(1);
  });

  test("records in the history what was moved, from where to where, by whom and in which request", async () => {
    const move = await prepareMove(service);
    const { clinic, appointment, options } = move;
    const answer = await sendMove(move);
    const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId: appointment.appointmentId });
    const { programId } = clinic;
    const { practitionerId, locationId, startsAt, endsAt } = appointment;
    const where = { programId, practitionerId, locationId };
    const [option] = options;
    expect((changes as unknown[]).slice(1)).toEqual([
      {
        appointmentId: appointment.appointmentId,
        version: 2,
        fromStatus: "PENDING",
        toStatus: "PENDING",
        fromSlot: { ...where, startsAt, endsAt },
        toSlot: { ...where, startsAt: option?.startsAt, endsAt: option?.endsAt },
        changedAt: expect.stringMatching(/Z$/),
        principal: expect.stringMatching(/\btest$/),
        correlationId: answer.headers.get("x-correlation-id"),
      },
    ]);
  });
});

describe("a replay", () => {
  test("works after the token was used or has expired, and moves nothing", async () => {
    const move = await prepareMove(service);
    const headers = { "idempotency-key": randomUUID() };
    const first = await sendMove(move, { headers });
    await expectMoved(move, { optionToken: tokenOf(move, 1), expectedVersion: 2 });
    service.advance(11 * 60_000);
    const replay = await sendMove(move, { headers });
    expect([replay.status, replay.text]).toEqual([200, first.text]);
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    const { appointment } = await mustCall(move.clinic, "GetAppointment", {
      appointmentId: move.appointment.appointmentId,
    });
    expect(appointment).toMatchObject({ startsAt: move.options[1]?.startsAt, version: 3 });
  });
});

describe("404", () => {
  test("returns the same answer for an appointment of another tenant, an unknown one and an id that is not a UUID", async () => {
    const [move, foreign] = [
      await prepareMove(service),
      await prepareMove(service, { as: { tenantId: randomUUID() } }),
    ];
    const headers = { "x-correlation-id": randomUUID() };
    const absent = await sendMove(move, { appointmentId: randomUUID(), headers });
    expectProblem(absent, 404, []);
    for (const appointmentId of [foreign.appointment.appointmentId, "42", "%C3%B1", "null", "0".repeat(32)]) {
      expect((await sendMove(move, { appointmentId, headers })).text).toBe(absent.text);
      await expectRefusal(move, { appointmentId }, 404);
    }
    await expectMoved(move);
    await expectMoved(foreign);
  });
});

describe("over RPC", () => {
  test("a success is the same", async () => {
    const move = await prepareMove(service);
    const { clinic, appointment, options } = move;
    const request = { appointmentId: appointment.appointmentId, optionToken: tokenOf(move), expectedVersion: 1 };
    const { appointment: moved } = await mustCall(clinic, "RescheduleAppointment", request);
    expect(moved).toEqual({
      id: appointment.appointmentId,
      patientId: appointment.patientId,
      serviceId: clinic.serviceId,
      startsAt: options[0]?.startsAt,
      endsAt: options[0]?.endsAt,
      status: "PENDING",
      version: 2,
    });
  });

  test("an option that no longer exists is FAILED_PRECONDITION with the Problem of REST", async () => {
    const move = await prepareMove(service);
    service.advance(10 * 60_000);
    const headers = { "x-correlation-id": randomUUID() };
    const rest = await sendMove(move, { headers });
    expectProblem(rest, 410, []);
    const client = await rpcClient(service, AppointmentService);
    const request = { appointmentId: move.appointment.appointmentId, optionToken: tokenOf(move), expectedVersion: 1 };
    const error = await client.rescheduleAppointment(request, { headers }).catch(ConnectError.from);
    if (!(error instanceof ConnectError)) throw new Error("the call was to fail");
    expect(error.code).toBe(Code.FailedPrecondition);
    const { $typeName: _, $unknown: __, ...problem } = error.findDetails(ProblemSchema)[0] ?? {};
    expect({ errors: [], ...rest.body }).toEqual(problem);
  });
});

const withoutQuotas = new WeakMap<TestService, TestService>();

/** Returns the service for callers with a new principal each time, so that preparations use no quota. */
function withoutQuota(target: TestService): TestService {
  const token: TestService["token"] = (claims = {}) => target.token({ ...claims, client: randomUUID() });
  const unlimited = withoutQuotas.get(target) ?? { ...target, token };
  withoutQuotas.set(target, unlimited);
  return unlimited;
}
