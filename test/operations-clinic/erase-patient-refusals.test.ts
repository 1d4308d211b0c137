import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { awaitStep, bookFirst, type Clinic, call, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { messagesOf } from "../support/problem.js";
import { readVersions } from "../support/recorded-changes.js";
import { type PatientBody, registerPatient } from "../support/registration.js";
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

afterAll(() => closeConsistent(service, foundByTheService));

describe("the erasure of a patient", () => {
  test("is done once per key, and replayed", async () => {
    const request = erasureOf(await registerPatient(service));
    const changes = { headers: { "idempotency-key": randomUUID() } };
    const first = await send(request, changes);
    const replay = await send(request, changes);
    expect([first.status, replay.text, replay.headers.get("idempotent-replayed")]).toEqual([200, first.text, "true"]);
  });

  test("does not remove replays of other patients' calls", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const other = await registerPatient(service);
    const request = { patientId: other.id, status: "INACTIVE", expectedVersion: 1 };
    const first = await callRpc(service, directory.setPatientStatus, request, { headers });
    await send(erasureOf(await registerPatient(service)));
    expect((await callRpc(service, directory.setPatientStatus, request, { headers })).text).toBe(first.text);
  });

  test("frees the document for the registration of a new patient", async () => {
    const patient = await registerPatient(service);
    await send(erasureOf(patient));
    const { documentType, documentNumber } = patient;
    const again = await registerPatient(service, { documentType, documentNumber });
    expect(again).toMatchObject({ status: "ACTIVE", version: 1 });
    expect(again.id).not.toBe(patient.id);
  });

  test("is rejected with an item for each unfinished appointment and case, and succeeds once they are finished", async () => {
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
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", {
      appointmentId,
      expectedVersion: 1,
      cancellationReasonId,
      comment: "No.",
    });
    for (const userAttentionCaseId of [open, told]) {
      await mustCall(clinic, "CloseCase", {
        userAttentionCaseId,
        expectedVersion: 1,
        reason: "Resuelto.",
      });
    }
    expect((await send(erasureOf(patient))).status).toBe(200);
  });

  test("is refused while a case is OPEN, and possible once it is closed", async () => {
    const patient = await registerPatient(service);
    const userAttentionCaseId = await deskFixtures(service).attentionCase({ patientId: patient.id });
    await mustCall(clinic, "TakeCase", { userAttentionCaseId, expectedVersion: 1 });
    const refusal = await send(erasureOf(patient));
    expectRefusal(refusal, 409, ["patientId STATE_NOT_ALLOWED"]);
    expect(messagesOf(refusal)).toEqual([`user-attention case ${userAttentionCaseId} is OPEN`]);
    const closing = { userAttentionCaseId, expectedVersion: 2, reason: "Resuelto." };
    await mustCall(clinic, "CloseCase", closing);
    expect((await send(erasureOf(patient))).status).toBe(200);
  });

  test.each([
    ["PENDING", []],
    ["CONFIRMED", ["ConfirmAppointment"]],
    ["CHECKED_IN", ["ConfirmAppointment", "CheckInAppointment"]],
  ])("is rejected while an appointment is %s, and changes nothing", async (status, steps) => {
    const own = await openClinic(service);
    const patient = await registerPatient(service);
    const booked = await bookFirst(own, patient.id);
    const { appointmentId } = booked;
    for (const [i, step] of steps.entries()) {
      awaitStep(own, step, booked);
      await mustCall(own, step, { appointmentId, expectedVersion: i + 1 });
    }
    const before = await readVersions(service);
    const refusal = await send(erasureOf(patient));
    expectRefusal(refusal, 409, ["patientId STATE_NOT_ALLOWED"]);
    expect(messagesOf(refusal)).toEqual([`appointment ${appointmentId} is ${status}`]);
    expect(await readVersions(service)).toEqual(before);
  });

  test("is rejected for another version, and for a patient who was merged into another", async () => {
    const [patient, duplicate] = [await registerPatient(service), await registerPatient(service)];
    expectRefusal(await send({ ...erasureOf(patient), expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
    await mustCall(clinic, "MergePatients", { ...mergeOf(patient, duplicate.id), reason: REASON });
    const merged = erasureOf({ ...duplicate, version: 2 });
    expectRefusal(await send(merged), 409, ["patientId STATE_NOT_ALLOWED"]);
  });

  test.each([
    ["a word of the name, in any spelling", "Lo pidió la señora gómez."],
    ["the document with punctuation", "C.C. 79.123-456, por correo."],
    ["the patient's former document of five digits", "Era la cédula 54.321."],
    ["the telephone, with or without the code of the country", "Llamó del (300) 555-0187"],
    ["the second telephone", "Llamó del 601 555 0188"],
    ["the address", "De: LUZ.G@example.com"],
    ["a name of three letters of a merged record", "La señora PAZ lo pidió."],
    ["the document of a merged record", "Cédula 80 555 111"],
    ["the document that a merged record had before", "Cédula 80.555.222"],
    ["the telephone of a merged record", "Llamó del 311 555 0190"],
    ["the address of a merged record", "De: paz@example.org"],
    ["a diagnosis", "Tiene diagnóstico de diabetes"],
  ])("is rejected if its reason, which would be kept, has %s: 422", async (_, reason) => {
    const patient = await luz();
    const refusal = await send({ ...erasureOf(patient), reason });
    expect([refusal.status, messagesOf(refusal).length]).toEqual([422, 1]);
    expect(refusal.text).not.toContain("ómez");
    const harmless = "Radicado 4321 del 2026, por la ley 1581, de la señora del 300";
    expect((await send({ ...erasureOf(patient), reason: harmless })).status).toBe(200);
  });

  test("is serialized with concurrent bookings, notes and cases of the patient", async () => {
    const trials = Array.from({ length: 6 }, async (_, i) => {
      const patient = await registerPatient(service);
      const [option] = await optionsFor(clinic, { patientId: patient.id });
      const { requestSourceId, appointmentTypeId } = clinic;
      const booking = { optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
      const [erased, ...others] = await Promise.all([
        send(erasureOf(patient)),
        call(clinic, "BookAppointment", { ...booking, patientId: patient.id }),
        call(clinic, "CreateNote", { patientId: patient.id, text: `Nota ${i}` }),
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

/** Registers a patient whose document was corrected, and merges a record into it whose document was corrected too. */
async function luz(): Promise<PatientBody> {
  const own = { fullName: "Luz Dary Gómez", phone: "+57 300 555 0187, 601 555 0188", email: "luz.g@example.com" };
  const patient = await registerPatient(service, { ...own, documentNumber: "54321" });
  const other = {
    fullName: "Paz Ríos",
    phone: "+57 311 555 0190",
    email: "paz@example.org",
    documentNumber: "80555222",
  };
  const duplicate = await registerPatient(service, other);
  await correct(patient, "79123456");
  await correct(duplicate, "80555111");
  const merge = { ...mergeOf({ ...patient, version: 2 }, duplicate.id), duplicateExpectedVersion: 2, reason: REASON };
  await mustCall(clinic, "MergePatients", merge);
  return { ...patient, version: 3 };
}

async function correct({ id: patientId, documentType, version: expectedVersion }: PatientBody, documentNumber: string) {
  const correction = { patientId, documentType, documentNumber, expectedVersion, reason: "Digitado mal." };
  await mustCall(clinic, "CorrectPatientDocument", correction);
}

function send(request: JsonObject, changes?: RpcChanges): Promise<RestAnswer> {
  return callRpc(service, directory.erasePatient, request, changes);
}
