import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { detailsOf, type PatientBody, registerPatient, registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal, expectTokenIsBound, itemsIn, walkPages } from "./rpc-under-test.js";

const { getPatient, findPatientByDocument, listPatients } = PatientDirectoryService.method;
const scope = "patients:read";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("GetPatient", () => {
  test.each(["ACTIVE", "INACTIVE", "DECEASED"])("returns all fields of a patient who is %s", async (status) => {
    const patient = await registerPatient(service);
    await setStatus(patient.id, status);
    const answer = await callRpc(service, getPatient, { patientId: patient.id.toUpperCase() });
    expect([answer.status, answer.body]).toEqual([200, { patient: detailsOf(patient, { status }) }]);
  });

  test("has no email if none was sent", async () => {
    const patient = await registerPatient(service, { email: undefined });
    const { body } = await callRpc(service, getPatient, { patientId: patient.id });
    expect(body["patient"]).toEqual(detailsOf(patient));
    expect(body["patient"]).not.toHaveProperty("email");
  });

  test("returns the document number only to a token with the scope for it", async () => {
    const patient = await registerPatient(service);
    const answer = await callRpc(service, getPatient, { patientId: patient.id }, { as: { scopes: [scope] } });
    expect(answer.body["patient"]).not.toHaveProperty("documentNumber");
    expect(answer.text).not.toContain(patient.documentNumber);
  });

  test("records who read which patient, when and in which call", async () => {
    const { id } = await registerPatient(service);
    const client = randomUUID();
    const answer = await callRpc(service, getPatient, { patientId: id }, { as: { client } });
    const [record, ...others] = await accessRecords(id);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      tenant_id: service.tenantId,
      operation: "cupo.clinic.v1.PatientDirectoryService/GetPatient",
      principal: expect.stringContaining(client),
      correlation_id: answer.headers.get("x-correlation-id"),
    });
    const [age] = await service.query(
      `SELECT now() - accessed_at BETWEEN '0 s' AND '1 min' AS fresh FROM patient_access_records WHERE patient_id = '${id}'`,
    );
    expect(age).toEqual({ fresh: true });
  });

  test("returns no patient if the access cannot be recorded", async () => {
    const { id } = await registerPatient(service);
    await service.query("ALTER TABLE patient_access_records ADD CONSTRAINT never CHECK (operation = '') NOT VALID");
    try {
      expectRefusal(await callRpc(service, getPatient, { patientId: id }), 500);
    } finally {
      await service.query("ALTER TABLE patient_access_records DROP CONSTRAINT never");
    }
  });
});

describe("FindPatientByDocument", () => {
  test("finds the patient by any spelling of the document, and records the access", async () => {
    const number = randomUUID().slice(0, 12).toUpperCase();
    const patient = await registerPatient(service, { documentType: "Pa_s", documentNumber: `0${number}` });
    const written = `0.${number.toLowerCase().replace("-", " / ")}`;
    const answer = await callRpc(service, findPatientByDocument, { documentType: "PA_S", documentNumber: written });
    expect([answer.status, answer.body]).toEqual([200, { patient: detailsOf(patient) }]);
    const operation = "cupo.clinic.v1.PatientDirectoryService/FindPatientByDocument";
    expect(await accessRecords(patient.id)).toMatchObject([{ operation, correlation_id: correlationIdOf(answer) }]);
  });

  test("returns the active patient with the document", async () => {
    const former = await registerPatient(service);
    await setStatus(former.id, "INACTIVE");
    const patient = await registerPatient(service, { documentNumber: former.documentNumber });
    const answer = await callRpc(service, findPatientByDocument, documentOf(former));
    expect(answer.body).toEqual({ patient: detailsOf(patient) });
    expect(await accessRecords(former.id)).toEqual([]);
  });

  test.each(["INACTIVE", "DECEASED"])("does not find a patient who is %s, and records nothing", async (status) => {
    const patient = await registerPatient(service);
    await setStatus(patient.id, status);
    expectRefusal(await callRpc(service, findPatientByDocument, documentOf(patient)), 404);
    expect(await accessRecords(patient.id)).toEqual([]);
  });

  test("distinguishes leading zeros, types and tenants", async () => {
    const patient = await registerPatient(service, { documentNumber: `0${randomInt(1e12)}` });
    const { documentType, documentNumber } = documentOf(patient);
    const others = [
      { documentType, documentNumber: documentNumber.slice(1) },
      { documentType: "CE", documentNumber },
    ];
    for (const other of others) expectRefusal(await callRpc(service, findPatientByDocument, other), 404);
    const as = { tenantId: randomUUID() };
    expectRefusal(await callRpc(service, findPatientByDocument, documentOf(patient), { as }), 404);
  });

  test("lists missing and invalid members of a document", async () => {
    expectRefusal(await callRpc(service, findPatientByDocument), 422, [
      "documentType REQUIRED",
      "documentNumber REQUIRED",
    ]);
    const request = { documentType: "C C", documentNumber: "-./" };
    const codes = (await callRpc(service, findPatientByDocument, request)).body["errors"];
    expect(codes).toMatchObject([{ field: "documentType" }, { field: "documentNumber" }]);
  });
});

describe("ListPatients", () => {
  test("lists all patients of the tenant by id, each once, and records the patients of each page", async () => {
    const { as, patients } = await makeTenant(5);
    const pages = await walkPages(service, listPatients, "patients", { pageSize: 2 }, { as });
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(patients.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((each) => detailsOf(each)));
    for (const { id } of patients) {
      const operation = "cupo.clinic.v1.PatientDirectoryService/ListPatients";
      expect(await accessRecords(id)).toMatchObject([{ operation, tenant_id: as.tenantId }]);
    }
    const exchanges = await service.query(
      `SELECT count(*)::int AS records FROM patient_access_records WHERE tenant_id = '${as.tenantId}'
       GROUP BY correlation_id ORDER BY 1`,
    );
    expect(exchanges.map(({ records }) => records)).toEqual([1, 2, 2]);
  });

  test("filters by status, and returns nothing in a tenant without patients", async () => {
    const { as, patients } = await makeTenant(3);
    const [first, second] = patients;
    await setStatus(`${first?.id}`, "INACTIVE");
    const inStatus = async (status: string) =>
      itemsIn(await callRpc(service, listPatients, { status }, { as }), "patients").map(({ patientId }) => patientId);
    expect(await inStatus("INACTIVE")).toEqual([first?.id]);
    expect(await inStatus("ACTIVE")).toContain(second?.id);
    expect(await inStatus("ACTIVE")).toHaveLength(2);
    expect(await inStatus("DECEASED")).toEqual([]);
    const nobody = await callRpc(service, listPatients, {}, { as: { tenantId: randomUUID() } });
    expect([nobody.status, nobody.body]).toEqual([200, { patients: [], nextPageToken: "" }]);
  });

  test("returns document numbers only to tokens with the scope for them", async () => {
    const { as } = await makeTenant(2);
    const answer = await callRpc(service, listPatients, {}, { as: { ...as, scopes: [scope] } });
    for (const patient of itemsIn(answer, "patients")) expect(patient).not.toHaveProperty("documentNumber");
  });

  test("rejects a page token of another list, and an altered one", async () => {
    const { as } = await makeTenant(3);
    await expectTokenIsBound(service, listPatients, { request: {}, other: { status: "ACTIVE" } }, { as });
  });

  test("rejects an unknown status", async () => {
    expectRefusal(await callRpc(service, listPatients, { status: 0 }), 422, ["status INVALID_VALUE"]);
  });
});

/** Creates a tenant with `count` patients. Returns the claims of its tokens, and the patients. */
async function makeTenant(count: number): Promise<{ as: { tenantId: string }; patients: PatientBody[] }> {
  const as = { tenantId: randomUUID() };
  const patients: PatientBody[] = [];
  for (let i = 0; i < count; i += 1) {
    const { body } = await callRpc(service, PatientService.method.registerPatient, { ...registration() }, { as });
    patients.push(body["patient"] as PatientBody);
  }
  return { as, patients };
}

function documentOf({ documentType, documentNumber = "" }: PatientBody) {
  return { documentType, documentNumber };
}

function setStatus(id: string, status: string): Promise<unknown> {
  return service.query(`UPDATE patients SET status = '${status}' WHERE id = '${id}'`);
}

function accessRecords(patientId: string): Promise<Record<string, unknown>[]> {
  return service.query(`SELECT * FROM patient_access_records WHERE patient_id = '${patientId}' ORDER BY accessed_at`);
}

function correlationIdOf({ headers }: RestAnswer): string | null {
  return headers.get("x-correlation-id");
}
