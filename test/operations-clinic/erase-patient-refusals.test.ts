import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as makers from "../contract/makers.js";
import { bookFirst, type Clinic, call, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { messagesOf } from "../support/problem.js";
import { registerPatient } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { complaint, erasureOf, mergeOf, REASON } from "./erasure-requests.js";
import { expectRefusal } from "./rpc-under-test.js";

const directory = PatientDirectoryService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(async () => {
  const broken = [...(await brokenInvariants(service)), ...(await foundByTheService(service))];
  await service.close();
  expect(broken).toEqual([]);
});

describe("the erasure of a patient", () => {
  test("is done once for a key, and told again to who repeats it", async () => {
    const request = erasureOf(await registerPatient(service));
    const changes = { headers: { "idempotency-key": randomUUID() } };
    const first = await send(request, changes);
    const replay = await send(request, changes);
    expect([first.status, replay.text, replay.headers.get("idempotent-replayed")]).toEqual([200, first.text, "true"]);
  });

  test("leaves the results of others to be replayed", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const other = await registerPatient(service);
    const request = { patientId: other.id, status: "INACTIVE", expectedVersion: 1 };
    const first = await callRpc(service, directory.setPatientStatus, request, { headers });
    await send(erasureOf(await registerPatient(service)));
    expect((await callRpc(service, directory.setPatientStatus, request, { headers })).text).toBe(first.text);
  });

  test("lets the document be registered anew, for a new patient", async () => {
    const patient = await registerPatient(service);
    await send(erasureOf(patient));
    const { documentType, documentNumber } = patient;
    const again = await registerPatient(service, { documentType, documentNumber });
    expect(again).toMatchObject({ status: "ACTIVE", version: 1 });
    expect(again.id).not.toBe(patient.id);
  });

  test("is refused while an appointment or a case is not finished, with an item for each, and possible then", async () => {
    const patient = await registerPatient(service);
    const { appointmentId, status } = await bookFirst(clinic, patient.id);
    const open = await deskFixtures(service).attentionCase({ patientId: patient.id });
    const told = await deskFixtures(service).attentionCase({ appointmentId });
    const refusal = await send(erasureOf(patient));
    expectRefusal(
      refusal,
      409,
      Array.from({ length: 3 }, () => "patientId STATE_NOT_ALLOWED"),
    );
    expect(messagesOf(refusal)).toEqual([
      `appointment ${appointmentId} is ${status}`,
      ...[open, told].toSorted().map((id) => `user-attention case ${id} is RECEIVED`),
    ]);
    const cancellationReasonId = await makers.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", {
      appointmentId,
      expectedVersion: 1,
      cancellationReasonId,
      comment: "No.",
    });
    for (const userAttentionCaseId of [open, told]) {
      await mustCall(clinic, "CloseUserAttentionCase", {
        userAttentionCaseId,
        expectedVersion: 1,
        reason: "Resuelto.",
      });
    }
    expect((await send(erasureOf(patient))).status).toBe(200);
  });

  test("is refused for another version, and for a patient who was merged into another", async () => {
    const [patient, duplicate] = [await registerPatient(service), await registerPatient(service)];
    expectRefusal(await send({ ...erasureOf(patient), expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
    await mustCall(clinic, "MergePatients", { ...mergeOf(patient, duplicate.id), reason: REASON });
    const merged = erasureOf({ ...duplicate, version: 2 });
    expectRefusal(await send(merged), 409, ["patientId STATE_NOT_ALLOWED"]);
  });

  test.each([
    ["a word of the name, however it is written", "Lo pidió la señora gómez."],
    ["the document with other signs", "C.C. 79.123-456, por correo."],
    ["the telephone", "Llamó del (300) 555-0187"],
    ["the address", "De: LUZ.G@example.com"],
    ["a diagnosis", "Tiene diagnóstico de diabetes"],
  ])("is refused for a reason with %s, which would stay: 422", async (_, reason) => {
    const changes = { fullName: "Luz Dary Gómez", phone: "300 555 0187", email: "luz.g@example.com" };
    const patient = await registerPatient(service, { ...changes, documentNumber: "79123456" });
    const refusal = await send({ ...erasureOf(patient), reason });
    expect([refusal.status, messagesOf(refusal).length]).toEqual([422, 1]);
    expect(refusal.text).not.toContain("ómez");
    expect((await send(erasureOf(patient))).status).toBe(200);
  });

  test("and what is booked, noted or told for the patient at the same time, is one before the other", async () => {
    const trials = Array.from({ length: 6 }, async (_, i) => {
      const patient = await registerPatient(service);
      const [option] = await optionsFor(clinic, { patientId: patient.id });
      const { requestSourceId, appointmentTypeId } = clinic;
      const booking = { optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
      const [erased, ...others] = await Promise.all([
        send(erasureOf(patient)),
        call(clinic, "BookAppointment", { ...booking, patientId: patient.id }),
        call(clinic, "AddNote", { patientId: patient.id, text: `Nota ${i}` }),
        call(clinic, "CreateCase", { ...complaint, patientId: patient.id }),
      ]);
      const outcomes = [erased, ...others].map(({ status }) => status);
      expect(outcomes.filter((status) => ![200, 404, 409, 422].includes(status))).toEqual([]);
      if (erased.status !== 200) return;
      const left = `SELECT text FROM notes WHERE patient_id = '${patient.id}' AND NOT removed
        UNION ALL SELECT id::text FROM appointments WHERE patient_id = '${patient.id}'
        UNION ALL SELECT description FROM user_attention_cases WHERE patient_id = '${patient.id}'`;
      expect(await service.query(left)).toEqual([]);
    });
    await Promise.all(trials);
  });
});

function send(request: JsonObject, changes?: RpcChanges): Promise<RestAnswer> {
  return callRpc(service, directory.erasePatient, request, changes);
}
