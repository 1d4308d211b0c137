import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { auditOf } from "../support/audit.js";
import { SESSIONS } from "../support/citus.js";
import { patience } from "../support/eventually.js";
import { messagesOf } from "../support/problem.js";
import { detailsOf, type PatientBody, registerPatient, registration } from "../support/registration.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

const { setPatientStatus } = PatientDirectoryService.method;
const DUPLICATE = ["documentNumber DUPLICATE"];

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("SetPatientStatus", () => {
  test.each([
    ["ACTIVE", "INACTIVE"],
    ["ACTIVE", "DECEASED"],
    ["INACTIVE", "ACTIVE"],
    ["INACTIVE", "DECEASED"],
    ["ACTIVE", "ACTIVE"],
    ["INACTIVE", "INACTIVE"],
  ])("moves a patient from %s to %s, one version on, and changes nothing else", async (from, to) => {
    const patient = await registerPatient(service);
    await service.query(`UPDATE patients SET status = '${from}' WHERE id = '${patient.id}'`);
    const answer = await send(moveOf(patient, to));
    expect([answer.status, answer.body]).toEqual([200, { patient: detailsOf(patient, { status: to, version: 2 }) }]);
    const { created_at: createdAt, updated_at: updatedAt, ...row } = await stored(patient.id);
    expect(row).toMatchObject({ status: to, version: 2, full_name: patient.fullName, email: patient.email });
    expect(Number(updatedAt)).toBeGreaterThan(Number(createdAt));
  });

  test.each(["ACTIVE", "INACTIVE", "DECEASED"])("does not move a patient from DECEASED to %s", async (to) => {
    const patient = await registerPatient(service);
    await send(moveOf(patient, "DECEASED"));
    const before = await stored(patient.id);
    expectRefusal(await send({ ...moveOf(patient, to), expectedVersion: 2 }), 409, ["status STATE_NOT_ALLOWED"]);
    expect(await stored(patient.id)).toEqual(before);
  });

  test("rejects another version before it checks the status, and names the current one", async () => {
    const patient = await registerPatient(service);
    await send(moveOf(patient, "DECEASED"));
    const answer = await send(moveOf(patient, "ACTIVE"));
    expectRefusal(answer, 409, ["expectedVersion STALE_VERSION"]);
    expect(messagesOf(answer).join()).toContain("2");
  });

  test("one of 10 concurrent changes of a version succeeds", async () => {
    const patient = await registerPatient(service);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(moveOf(patient, "INACTIVE"))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, ["expectedVersion STALE_VERSION"]);
    }
  });

  test("sets an inactive patient DECEASED although an active one has the same document", async () => {
    const former = await inactive();
    await registerPatient(service, { documentNumber: `${former.documentNumber}` });
    expect((await send(moveOf(former, "DECEASED"))).body["patient"]).toMatchObject({ status: "DECEASED", version: 3 });
  });

  test("lists missing members and an unknown status", async () => {
    expectRefusal(await send({}), 422, ["patientId REQUIRED", "status REQUIRED", "expectedVersion REQUIRED"]);
    const patient = await registerPatient(service);
    expectRefusal(await send({ ...moveOf(patient, "ACTIVE"), status: 0 }), 422, ["status INVALID_VALUE"]);
    expectRefusal(await send({ ...moveOf(patient, "ACTIVE"), status: 4 }), 422, ["status INVALID_VALUE"]);
  });

  test("is done once per key, writes one audit row, an access record only for the replay, and returns no number without the scope", async () => {
    const patient = await registerPatient(service);
    const changes = { headers: { "idempotency-key": randomUUID() } };
    const first = await send(moveOf(patient, "INACTIVE"), changes);
    const accesses = `SELECT correlation_id FROM patient_access_records WHERE patient_id = '${patient.id}'`;
    expect(await service.query(accesses)).toEqual([]);
    const replay = await send(moveOf(patient, "INACTIVE"), changes);
    expect(replay.text).toBe(first.text);
    expect(await service.query(accesses)).toEqual([{ correlation_id: replay.headers.get("x-correlation-id") }]);
    expect(await auditOf(service, first)).toEqual([
      {
        tenant_id: service.tenantId,
        operation: "cupo.clinic.v1.PatientDirectoryService/SetPatientStatus",
        principal: expect.stringContaining("test"),
        action: "UPDATE",
        resource_type: "Patient",
        resource_id: patient.id,
        resource_version: 2,
      },
    ]);
    const blind = await send(
      { ...moveOf(patient, "ACTIVE"), expectedVersion: 2 },
      { as: { scopes: ["patients:write"] } },
    );
    expect(blind.body["patient"]).toMatchObject({ status: "ACTIVE", version: 3 });
    expect(blind.body["patient"]).not.toHaveProperty("documentNumber");
  });
});

describe("a reactivation", () => {
  test("is rejected while another active patient has the document in any spelling, and succeeds afterwards", async () => {
    const former = await inactive({ documentNumber: `AB-${randomInt(1e12)}` });
    const documentNumber = `${former.documentNumber}`.toLowerCase().replace("-", ". ");
    const current = await registerPatient(service, { documentNumber });
    const refusal = await send(moveOf(former, "ACTIVE"));
    expectRefusal(refusal, 409, DUPLICATE);
    expect(messagesOf(refusal)).toEqual(["another active patient has this document"]);
    expect(await stored(former.id)).toMatchObject({ status: "INACTIVE", version: 2 });
    expect((await send(moveOf(current, "DECEASED"))).status).toBe(200);
    expect((await send(moveOf(former, "ACTIVE"))).status).toBe(200);
  });

  test("ignores the same document of another type, in another tenant, or of an inactive patient", async () => {
    const former = await inactive();
    const { documentNumber } = former;
    await inactive({ documentNumber });
    await registerPatient(service, { documentNumber, documentType: "CE" });
    const token = await service.token({ tenantId: randomUUID() });
    await service.request("POST", "/patients", { token, body: registration({ documentNumber }) });
    expect((await send(moveOf(former, "ACTIVE"))).status).toBe(200);
  });

  test("makes no duplicate if it runs concurrently with another reactivation or a registration of the document", async () => {
    const trials = Array.from({ length: 8 }, async () => {
      const one = await inactive();
      const { documentNumber } = one;
      const other = await inactive({ documentNumber });
      const answers = await Promise.all([
        send(moveOf(one, "ACTIVE")),
        send(moveOf(other, "ACTIVE")),
        service.request("POST", "/patients", { body: registration({ documentNumber }) }),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status >= 300)) expectRefusal(answer, 409, DUPLICATE);
    });
    await Promise.all(trials);
  });

  test("waits for a competing uncommitted reactivation, and is then rejected", async () => {
    const former = await inactive();
    const { documentNumber } = former;
    const rival = await inactive({ documentNumber });
    const isBlocked = `EXISTS (SELECT FROM ${SESSIONS} WHERE datname = current_database()
      AND wait_event_type = 'Lock')`;
    const isHeld = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const rivalCommits = service.query(
      `DO $$ BEGIN
         UPDATE patients SET status = 'ACTIVE' WHERE id = '${rival.id}';
         PERFORM pg_advisory_xact_lock(4711);
         FOR i IN 1..30000 LOOP
           PERFORM pg_stat_clear_snapshot(), pg_sleep(0.001);
           EXIT WHEN ${isBlocked};
         END LOOP;
       END $$`,
    );
    await expect.poll(() => service.query(isHeld), { ...patience, interval: 1 }).toHaveLength(1);
    const answer = await send(moveOf(former, "ACTIVE"));
    await rivalCommits;
    expectRefusal(answer, 409, DUPLICATE);
    expect(answer.text).not.toContain(documentNumber);
    expect(await stored(former.id)).toMatchObject({ status: "INACTIVE", version: 2 });
  });
});

function send(request: JsonObject, changes?: RpcChanges) {
  return callRpc(service, setPatientStatus, request, changes);
}

/** Builds a request that changes a patient's status, at the known version. */
function moveOf({ id, version }: PatientBody, status: string) {
  return { patientId: id, status, expectedVersion: version };
}

/** Registers a patient and sets them INACTIVE. */
async function inactive(changes?: object): Promise<PatientBody> {
  const patient = await registerPatient(service, changes);
  await send(moveOf(patient, "INACTIVE"));
  return { ...patient, status: "INACTIVE", version: 2 };
}

async function stored(id: string): Promise<Record<string, unknown>> {
  const [row = {}] = await service.query(`SELECT * FROM patients WHERE id = '${id}'`);
  return row;
}
