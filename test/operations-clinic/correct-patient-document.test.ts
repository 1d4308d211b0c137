import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { auditOf } from "../support/audit.js";
import { detailsOf, type PatientBody, registerPatient } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectRefusal, expectTokenIsBound, type Item, itemsIn, walkPages } from "./rpc-under-test.js";

const { correctPatientDocument, findPatientByDocument, listPatientChanges, searchPatients, setPatientStatus } =
  PatientDirectoryService.method;
const REASON = "Se digitó mal en el registro";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("CorrectPatientDocument", () => {
  test.each(["ACTIVE", "INACTIVE", "DECEASED"])(
    "corrects the document of a patient who is %s, and changes nothing else",
    async (status) => {
      const patient = await registerPatient(service);
      await service.query(`UPDATE patients SET status = '${status}' WHERE id = '${patient.id}'`);
      const documentNumber = newNumber();
      const answer = await send({ ...correctionOf(patient), documentType: "CE", documentNumber });
      const corrected = detailsOf(patient, { documentType: "CE", documentNumber, status, version: 2 });
      expect([answer.status, answer.body]).toEqual([200, { patient: corrected }]);
      const consents = await service.query(`SELECT FROM patient_consents WHERE patient_id = '${patient.id}'`);
      expect(consents).toHaveLength(1);
    },
  );

  test("makes the patient known by the new document only, and frees the old one for registration", async () => {
    const patient = await registerPatient(service);
    const documentNumber = newNumber();
    await send({ ...correctionOf(patient), documentNumber });
    const { documentType } = patient;
    const find = (number: string) => callRpc(service, findPatientByDocument, { documentType, documentNumber: number });
    expect((await find(documentNumber)).body["patient"]).toMatchObject({ patientId: patient.id });
    expectRefusal(await find(`${patient.documentNumber}`), 404);
    const begin = async (documentNumberPrefix: string) =>
      itemsIn(await callRpc(service, searchPatients, { documentNumberPrefix }), "patients");
    expect(await begin(documentNumber)).toHaveLength(1);
    expect(await begin(`${patient.documentNumber}`)).toEqual([]);
    await registerPatient(service, { documentNumber: patient.documentNumber });
  });

  test("is rejected while another active patient has the document, in any spelling", async () => {
    const [patient, rival] = [await registerPatient(service), await registerPatient(service)];
    const documentNumber = `${rival.documentNumber}`.replace(/^(..)/, "$1.");
    const request = { ...correctionOf(patient), documentNumber };
    expectRefusal(await send(request), 409, ["documentNumber DUPLICATE"]);
    const inactive = { patientId: rival.id, status: "INACTIVE", expectedVersion: 1 };
    expect((await callRpc(service, setPatientStatus, inactive)).status).toBe(200);
    expect((await send(request)).status).toBe(200);
    const back = { patientId: rival.id, status: "ACTIVE", expectedVersion: 2 };
    expectRefusal(await callRpc(service, setPatientStatus, back), 409, ["documentNumber DUPLICATE"]);
    const ofInactive = { ...correctionOf({ ...rival, version: 2 }), documentNumber };
    expect((await send(ofInactive)).status).toBe(200);
  });

  test("one of 8 concurrent corrections to the same document succeeds", async () => {
    const patients = await Promise.all(Array.from({ length: 8 }, () => registerPatient(service)));
    const documentNumber = newNumber();
    const answers = await Promise.all(patients.map((each) => send({ ...correctionOf(each), documentNumber })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, ["documentNumber DUPLICATE"]);
      expect(answer.text).not.toContain(documentNumber);
    }
  });

  test("rejects another version, an invalid document, and a reason about the patient's health", async () => {
    const patient = await registerPatient(service);
    const request = correctionOf(patient);
    expectRefusal(await send({ ...request, expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
    expectRefusal(await send({ ...request, documentNumber: "-./" }), 422, ["documentNumber INVALID_FORMAT"]);
    expectRefusal(await send({ ...request, reason: "Tiene diagnóstico de diabetes" }), 422, [
      "reason CONTAINS_DIAGNOSIS",
    ]);
    expectRefusal(await send({}), 422, [
      "patientId REQUIRED",
      "documentType REQUIRED",
      "documentNumber REQUIRED",
      "reason REQUIRED",
      "expectedVersion REQUIRED",
    ]);
  });

  test("is done once per key, and writes one audit row and one change", async () => {
    const patient = await registerPatient(service);
    const changes = { headers: { "idempotency-key": randomUUID() } };
    const request = correctionOf(patient);
    const first = await send(request, changes);
    expect((await send(request, changes)).text).toBe(first.text);
    expect(await auditOf(service, first)).toMatchObject([
      { resource_type: "Patient", resource_id: patient.id, resource_version: 2, action: "UPDATE" },
    ]);
    expect(await changesOf(patient)).toHaveLength(1);
  });
});

describe("ListPatientChanges", () => {
  test("returns the former document and the reason, and the number only with the scope for it", async () => {
    const patient = await registerPatient(service);
    const correction = await send(correctionOf(patient), { headers: { "actor-id": "desk-7" } });
    const change = {
      patientChangeId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      patientId: patient.id,
      version: 2,
      kind: "DOCUMENT_CORRECTED",
      formerDocumentType: patient.documentType,
      reason: REASON,
      changedAt: expect.stringMatching(/Z$/),
      principal: expect.stringContaining("test"),
      actor: "desk-7",
      correlationId: correction.headers.get("x-correlation-id"),
    };
    expect(await changesOf(patient)).toEqual([{ ...change, formerDocumentNumber: patient.documentNumber }]);
    expect(await changesOf(patient, { as: { scopes: ["patients:read"] } })).toEqual([change]);
    const accesses = await service.query(
      `SELECT operation FROM patient_access_records WHERE patient_id = '${patient.id}'`,
    );
    const operation = "cupo.clinic.v1.PatientDirectoryService/ListPatientChanges";
    expect(accesses).toEqual([{ operation }, { operation }]);
  });

  test("lists all changes, the latest first", async () => {
    const patient = await registerPatient(service);
    for (const expectedVersion of [1, 2, 3]) await send({ ...correctionOf(patient), expectedVersion });
    const request = { patientId: patient.id };
    const pages = await walkPages(service, listPatientChanges, "changes", { ...request, pageSize: 2 });
    expect(pages.flat().map(({ version }) => version)).toEqual([4, 3, 2]);
    const other = { patientId: (await registerPatient(service)).id };
    await expectTokenIsBound(service, listPatientChanges, { request, other });
  });
});

function send(request: JsonObject, changes?: RpcChanges) {
  return callRpc(service, correctPatientDocument, request, changes);
}

/** Builds a request that gives a patient another document, at the patient's known version. */
function correctionOf({ id, version }: PatientBody): JsonObject {
  return { patientId: id, documentType: "CC", documentNumber: newNumber(), reason: REASON, expectedVersion: version };
}

function newNumber(): string {
  return String(randomInt(1e12, 9e12));
}

async function changesOf({ id }: PatientBody, changes?: RpcChanges): Promise<Item[]> {
  return itemsIn(await callRpc(service, listPatientChanges, { patientId: id }, changes), "changes");
}
