import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { registerPatient, registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectTokenIsBound, itemsIn, walkPages } from "./rpc-under-test.js";

const { getPatient, listConsents, listAccessRecords } = PatientDirectoryService.method;

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("a call that changes nothing but returns a patient", () => {
  test.each([
    ["RegisterPatient", PatientService.method.registerPatient],
    ["UpdatePatient", PatientService.method.updatePatient],
  ] as const)("writes an access record: a replay of %s", async (name, method) => {
    const { id } = await registerPatient(service);
    const update = { patientId: id, fullName: "Ana Ruiz", phone: "6015550100", expectedVersion: 1 };
    const request = name === "UpdatePatient" ? update : { ...registration() };
    const headers = { "Idempotency-Key": randomUUID() };
    const first = await callRpc(service, method, request, { headers });
    const patientId = (first.body["patient"] as { id: string }).id;
    expect(await accessRecords(patientId)).toEqual([]);
    const replay = await callRpc(service, method, request, { headers });
    expect([replay.status, replay.body]).toEqual([200, first.body]);
    expect(await accessRecords(patientId)).toMatchObject([
      { operation: `cupo.access.v1.PatientService/${name}`, correlation_id: correlationIdOf(replay) },
    ]);
  });

  test("writes an access record: an update with an empty mask", async () => {
    const { id } = await registerPatient(service);
    const request = { patientId: id, fullName: "Otra", phone: "6015550199", expectedVersion: 1, updateMask: "" };
    const answer = await callRpc(service, PatientService.method.updatePatient, request);
    expect(answer.body["patient"]).toMatchObject({ id, version: 1 });
    expect(await accessRecords(id)).toMatchObject([
      { operation: "cupo.access.v1.PatientService/UpdatePatient", correlation_id: correlationIdOf(answer) },
    ]);
  });
});

describe("ListConsents", () => {
  test("returns the consents given at registration, and records the access", async () => {
    const request = { ...registration({ consentGrantedAt: "2026-01-15T10:00:00-05:00" }) };
    const registered = await callRpc(service, PatientService.method.registerPatient, request);
    const { id } = registered.body["patient"] as { id: string };
    const answer = await callRpc(service, listConsents, { patientId: id });
    expect(itemsIn(answer, "consents")).toEqual([
      {
        consentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        patientId: id,
        grantedAt: "2026-01-15T15:00:00.000Z",
        recordedAt: expect.stringMatching(/Z$/),
        principal: expect.stringContaining("test"),
        correlationId: correlationIdOf(registered),
      },
    ]);
    expect(await accessRecords(id)).toMatchObject([
      { operation: "cupo.clinic.v1.PatientDirectoryService/ListConsents", correlation_id: correlationIdOf(answer) },
    ]);
  });

  test("lists the latest first, even if the ids have another order", async () => {
    const { id } = await registerPatient(service);
    const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const rows = ids.map(
      (consent, i) => `('${service.tenantId}', '${consent}', '${id}', now(), ${microsecond(i)}, 'p', '${consent}')`,
    );
    await service.query(
      `INSERT INTO patient_consents (tenant_id, id, patient_id, granted_at, recorded_at, principal, correlation_id)
       VALUES ${rows.join()}`,
    );
    const pages = await walkPages(service, listConsents, "consents", { patientId: id, pageSize: 2 });
    expect(
      pages
        .flat()
        .slice(1)
        .map(({ consentId }) => consentId),
    ).toEqual(ids.toReversed());
    const other = { patientId: (await registerPatient(service)).id };
    await expectTokenIsBound(service, listConsents, { request: { patientId: id }, other });
  });
});

describe("ListAccessRecords", () => {
  test("returns all fields of the records, the latest first, and writes none itself", async () => {
    const { id } = await registerPatient(service);
    expect((await callRpc(service, listAccessRecords, { patientId: id })).body).toEqual({
      accessRecords: [],
      nextPageToken: "",
    });
    const reads = [
      await callRpc(service, getPatient, { patientId: id }),
      await callRpc(service, listConsents, { patientId: id }),
    ];
    const [last, first] = itemsIn(await callRpc(service, listAccessRecords, { patientId: id }), "accessRecords");
    expect(last).toEqual({
      accessRecordId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      patientId: id,
      accessedAt: expect.stringMatching(/Z$/),
      principal: expect.stringContaining("test"),
      operation: "cupo.clinic.v1.PatientDirectoryService/ListConsents",
      correlationId: reads.map(correlationIdOf)[1],
    });
    expect(first).toMatchObject({ correlationId: reads.map(correlationIdOf)[0] });
    expect(await accessRecords(id)).toHaveLength(2);
  });

  test("lists all of them, even several with the same time", async () => {
    const { id } = await registerPatient(service);
    const moments = [0, 1, 1, 1, 2].map(
      (i) => `('${service.tenantId}', gen_random_uuid(), '${id}', ${microsecond(i)}, 'o', 'p', gen_random_uuid())`,
    );
    await service.query(
      `INSERT INTO patient_access_records (tenant_id, id, patient_id, accessed_at, operation, principal, correlation_id)
       VALUES ${moments.join()}`,
    );
    const pages = await walkPages(service, listAccessRecords, "accessRecords", { patientId: id, pageSize: 2 });
    const rows = await service.query(
      `SELECT id FROM patient_access_records WHERE patient_id = '${id}' ORDER BY accessed_at DESC, id DESC`,
    );
    expect(pages.flat().map(({ accessRecordId }) => accessRecordId)).toEqual(rows.map((row) => row["id"]));
    const other = { patientId: (await registerPatient(service)).id };
    await expectTokenIsBound(service, listAccessRecords, { request: { patientId: id }, other });
  });
});

function accessRecords(patientId: string): Promise<Record<string, unknown>[]> {
  return service.query(`SELECT * FROM patient_access_records WHERE patient_id = '${patientId}' ORDER BY accessed_at`);
}

function correlationIdOf({ headers }: RestAnswer): string | null {
  return headers.get("x-correlation-id");
}

/** Returns SQL for an instant in the past. The instants differ only in microseconds. */
function microsecond(i: number): string {
  return `timestamptz '2026-01-01 10:00:00.00000${i}Z'`;
}
