import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { bookFirst, type Clinic, openClinic } from "../schedule/clinic.js";
import { sendRaw } from "../support/raw-request.js";
import { registerPatient, registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal, itemsIn } from "./rpc-under-test.js";

const { setPatientStatus, getPatient, listAccessRecords } = PatientDirectoryService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(() => service.close());

describe("the Actor-Id of a call is recorded", () => {
  test("in its audit rows, but not if the call has no such header", async () => {
    const { id } = await registerPatient(service);
    const request = { patientId: id, status: "INACTIVE", expectedVersion: 1 };
    const answer = await callRpc(service, setPatientStatus, request, { headers: { "actor-id": "nurse-7" } });
    expect(await actorsOf("audit_events", answer)).toEqual(["nurse-7"]);
    const back = { patientId: id, status: "ACTIVE", expectedVersion: 2 };
    expect(await actorsOf("audit_events", await callRpc(service, setPatientStatus, back))).toEqual([null]);
  });

  test("in the history of an appointment, with its place, its reason and the comment", async () => {
    const { appointmentId: id, locationId } = await bookFirst(clinic, await fixtures.patient.create(service, {}));
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    const comment = "Llamó la hija.";
    const request = { appointmentId: id, expectedVersion: 1, cancellationReasonId, comment };
    await callRpc(service, rpcNamed("CancelAppointment"), request, { headers: { "actor-id": "desk-2" } });
    const [booked, cancelled] = await changesOf(id);
    expect(booked).toMatchObject({ toSlot: { locationId } });
    for (const member of ["actor", "comment", "cancellationReasonId"]) expect(booked).not.toHaveProperty(member);
    expect(cancelled).toMatchObject({
      fromSlot: { locationId },
      toSlot: { locationId },
      cancellationReasonId,
      comment,
      actor: "desk-2",
    });
  });

  test("in the access records of a read, and of a replay", async () => {
    const { id } = await registerPatient(service);
    await callRpc(service, getPatient, { patientId: id }, { headers: { "actor-id": "reader" } });
    const headers = { "idempotency-key": randomUUID() };
    const request = { patientId: id, fullName: "Ana Ruiz", phone: "6015550100", expectedVersion: 1 };
    const { updatePatient } = PatientService.method;
    await callRpc(service, updatePatient, request, { headers: { ...headers, "actor-id": "writer" } });
    const replay = await callRpc(service, updatePatient, request, { headers: { ...headers, "actor-id": "another" } });
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    const listed = await callRpc(service, listAccessRecords, { patientId: id });
    const actors = itemsIn(listed, "accessRecords").map(({ actor }) => actor);
    expect(actors.filter((actor) => actor !== undefined)).toEqual(["another", "reader"]);
  });

  test("but never in the log", async () => {
    const actor = `actor-${randomUUID()}`;
    await callRpc(service, getPatient, { patientId: randomUUID() }, { headers: { "actor-id": actor } });
    expect(JSON.stringify(service.log)).not.toContain(actor);
  });
});

describe("an Actor-Id that cannot be used", () => {
  test("is rejected, and nothing is written", async () => {
    const { id } = await registerPatient(service);
    const request = { patientId: id, status: "INACTIVE", expectedVersion: 1 };
    const answer = await callRpc(service, setPatientStatus, request, { headers: { "actor-id": "Ana Ruiz" } });
    expectRefusal(answer, 400, ["Actor-Id INVALID_FORMAT"]);
    expect((await callRpc(service, setPatientStatus, request)).status).toBe(200);
  });

  test("is rejected if it is sent twice", async () => {
    const answer = await sendRaw(service.internalUrl, {
      method: "POST",
      target: "/cupo.clinic.v1.PatientDirectoryService/GetPatient",
      version: "HTTP/1.1",
      headers: [
        ["Host", "localhost"],
        ["Authorization", `Bearer ${await service.token()}`],
        ["Content-Type", "application/json"],
        ["Actor-Id", "a"],
        ["Actor-Id", "b"],
      ],
      body: JSON.stringify({ patientId: randomUUID() }),
    });
    expect([answer.status, answer.body["message"]]).toEqual([400, "Actor-Id must be sent once."]);
  });

  test("is ignored over REST, which has no such header", async () => {
    const headers = { "actor-id": "Ana Ruiz" };
    const answer = await service.request("POST", "/patients", { body: registration(), headers });
    expect(answer.status).toBe(201);
    expect(await actorsOf("audit_events", answer)).toEqual([null]);
  });
});

async function actorsOf(table: string, { headers }: RestAnswer): Promise<unknown[]> {
  const id = `${headers.get("x-correlation-id")}`;
  return (await service.query(`SELECT actor FROM ${table} WHERE correlation_id = '${id}'`)).map(({ actor }) => actor);
}

async function changesOf(appointmentId: string) {
  return itemsIn(await callRpc(service, rpcNamed("ListAppointmentChanges"), { appointmentId }), "changes");
}
