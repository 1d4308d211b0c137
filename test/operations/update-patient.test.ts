import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditOf, countCommits } from "../support/audit.js";
import { sendAtOnce } from "../support/once.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import { type PatientBody, patientOf, registerPatient, registration } from "../support/registration.js";
import type { RequestChanges } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeCommonAnswers, type OperationUnderTest } from "./common-answers.js";
import { describeIdempotency } from "./idempotent-answers.js";

const CHANGES = { fullName: "Ana María Pérez de López", phone: "601 555 0199", expectedVersion: 1 };

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

const operation: OperationUnderTest = {
  method: "PATCH",
  scope: "patients:write",
  successStatus: 200,
  prepare: async (target) => ({ path: `/patients/${(await registerPatient(target)).id}`, body: CHANGES }),
};

describeCommonAnswers(operation, () => service);
describeIdempotency(operation, () => service);

describe("200", () => {
  test("returns the patient with the new name and contact channels, one version on", async () => {
    const patient = await registerPatient(service);
    const body = { ...CHANGES, email: "ana.lopez@example.com" };
    const answer = await update(patient.id, { body });
    expect(answer.status).toBe(200);
    const { expectedVersion: _, ...changes } = body;
    expect(answer.body).toEqual({ ...patient, ...changes, version: 2 });
  });

  test("keeps the email if none is sent", async () => {
    const patient = await registerPatient(service, { email: "old@example.com" });
    expect(patientOf(await update(patient.id)).email).toBe("old@example.com");
  });

  test("adds an email to a patient without one", async () => {
    const patient = await registerPatient(service, { email: undefined });
    expect(await update(patient.id).then(patientOf)).not.toHaveProperty("email");
    const body = { ...CHANGES, email: "new@example.com", expectedVersion: 2 };
    expect(patientOf(await update(patient.id, { body })).email).toBe("new@example.com");
  });

  test("increments the version each time, also for equal values", async () => {
    const { id } = await registerPatient(service);
    for (const version of [1, 2, 3]) {
      const answer = await update(id, { body: { ...CHANGES, expectedVersion: version } });
      expect(patientOf(answer).version).toBe(version + 1);
    }
  });

  test.each(["ACTIVE", "INACTIVE", "DECEASED"])("updates a patient who is %s", async (status) => {
    const patient = await registerPatient(service);
    await service.query(`UPDATE patients SET status = '${status}' WHERE id = '${patient.id}'`);
    expect(patientOf(await update(patient.id))).toMatchObject({ status, version: 2 });
  });

  test("returns the document number only to a token with the scope for it", async () => {
    const patient = await registerPatient(service);
    const answer = await update(patient.id, { token: await service.token({ scopes: ["patients:write"] }) });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty("documentNumber");
    expect(answer.text).not.toContain(patient.documentNumber);
  });

  test("writes one audit row in the transaction of the patient and the stored result", async () => {
    const { id } = await registerPatient(service);
    const answer = await update(id);
    expect(await auditOf(service, answer)).toEqual([
      {
        tenant_id: service.tenantId,
        operation: "cupo.access.v1.PatientService/UpdatePatient",
        principal: expect.stringMatching(/\btest$/),
        action: "UPDATE",
        resource_type: "Patient",
        resource_id: id,
        resource_version: 2,
      },
    ]);
    expect(await countCommits(service, answer)).toBe(1);
  });

  test("accepts an id in upper case and with percent-encoding", async () => {
    const { id } = await registerPatient(service);
    expect(patientOf(await update(id.toUpperCase())).id).toBe(id);
    const escaped = id.replaceAll("-", "%2D");
    expect(patientOf(await update(escaped, { body: { ...CHANGES, expectedVersion: 2 } })).id).toBe(id);
  });
});

describe("404", () => {
  test("returns the same answer for a patient of another tenant and an unknown one", async () => {
    const token = await service.token({ tenantId: randomUUID() });
    const foreign = patientOf(await service.request("POST", "/patients", { token, body: registration() }));
    const headers = { "x-correlation-id": randomUUID() };
    const absent = await update(randomUUID(), { headers });
    const hidden = await update(foreign.id, { headers });
    expectProblem(absent, 404);
    expect([hidden.status, hidden.text]).toEqual([absent.status, absent.text]);
    expect(shared(hidden.headers)).toEqual(shared(absent.headers));
    expect(await stored(foreign.id)).toMatchObject({ full_name: foreign.fullName, version: 1 });
  });

  test.each(["42", "not-a-uuid", "%C3%B1", "00000000000000000000000000000000", "null"])(
    "treats %s, which is not a UUID, as an unknown patient",
    async (id) => {
      const headers = { "x-correlation-id": randomUUID() };
      const absent = await update(randomUUID(), { headers });
      expect((await update(id, { headers })).text).toBe(absent.text);
    },
  );
});

describe("409 STALE_VERSION", () => {
  test("names the current version and does not change the patient", async () => {
    const { id } = await registerPatient(service);
    await update(id);
    const before = await stored(id);
    const answer = await update(id, { body: { ...CHANGES, fullName: "Too Late" } });
    expectProblem(answer, 409, ["expectedVersion STALE_VERSION"]);
    expect(messagesOf(answer).join()).toMatch(/\b2\b/);
    expect(await stored(id)).toEqual(before);
  });

  test.each([0, 2, -1, 2_147_483_647, -2_147_483_648])(
    "rejects version %i of a patient at version 1",
    async (version) => {
      const { id } = await registerPatient(service);
      const answer = await update(id, { body: { ...CHANGES, expectedVersion: version } });
      expectProblem(answer, 409, ["expectedVersion STALE_VERSION"]);
    },
  );

  test("accepts one of 50 concurrent updates of a version", async () => {
    const { id } = await registerPatient(service);
    const answers = await sendAtOnce(service.publicUrl, 50, () => update(id));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status !== 200) expectProblem(answer, 409, ["expectedVersion STALE_VERSION"]);
    }
    expect(await stored(id)).toMatchObject({ version: 2 });
  });
});

describe("422", () => {
  test("lists every missing field, in the order of the contract", async () => {
    const { id } = await registerPatient(service);
    expectProblem(await update(id, { body: {} }), 422, [
      "fullName REQUIRED",
      "phone REQUIRED",
      "expectedVersion REQUIRED",
    ]);
  });

  test("lists every invalid field at once, unknown ones last", async () => {
    const { id } = await registerPatient(service);
    const body = { zip: 1, expectedVersion: "1", email: "ana@", phone: "1234", fullName: " " };
    expectProblem(await update(id, { body }), 422, [
      "fullName INVALID_FORMAT",
      "phone INVALID_FORMAT",
      "email INVALID_EMAIL",
      "expectedVersion INVALID_TYPE",
      "zip UNKNOWN_FIELD",
    ]);
  });

  test.each([
    "documentType",
    "documentNumber",
    "consentGrantedAt",
    "status",
    "version",
    "id",
    "patientId",
    "updateMask",
  ])("rejects %s in the body as unknown", async (field) => {
    const { id } = await registerPatient(service);
    expectProblem(await update(id, { body: { ...CHANGES, [field]: "x" } }), 422, [`${field} UNKNOWN_FIELD`]);
  });

  test.each([
    ["1.5", "INVALID_TYPE"],
    ["2147483648", "OUT_OF_RANGE"],
    ["-2147483649", "OUT_OF_RANGE"],
    ["1e400", "OUT_OF_RANGE"],
    ['"1"', "INVALID_TYPE"],
    ["true", "INVALID_TYPE"],
    ["null", "INVALID_TYPE"],
    ["[1]", "INVALID_TYPE"],
  ])("rejects %s as a version", async (text, code) => {
    const { id } = await registerPatient(service);
    const body = JSON.stringify({ ...CHANGES, expectedVersion: 0 }).replace(":0}", `:${text}}`);
    expectProblem(await update(id, { body }), 422, [`expectedVersion ${code}`]);
  });

  test.each(["1.0", "1e0", "0.1e1"])("accepts %s as 1", async (text) => {
    const { id } = await registerPatient(service);
    const body = JSON.stringify({ ...CHANGES, expectedVersion: 0 }).replace(":0}", `:${text}}`);
    expect((await update(id, { body })).status).toBe(200);
  });
});

describe("a replay", () => {
  test("succeeds even if the version has changed since", async () => {
    const { id } = await registerPatient(service);
    const headers = { "idempotency-key": randomUUID() };
    const first = await update(id, { headers });
    await update(id, { body: { ...CHANGES, fullName: "Later Name", expectedVersion: 2 } });
    const replay = await update(id, { headers });
    expect([replay.status, replay.text]).toEqual([200, first.text]);
    expect(await stored(id)).toMatchObject({ full_name: "Later Name", version: 3 });
  });

  test("requires that the body is the same", async () => {
    const [patient, other] = [await registerPatient(service), await registerPatient(service)];
    const headers = { "idempotency-key": randomUUID() };
    await update(patient.id, { headers });
    const reused = ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"];
    expectProblem(await update(patient.id, { headers, body: { ...CHANGES, email: "a@b.co" } }), 409, reused);
    expectProblem(await update(patient.id, { headers, body: { ...CHANGES, expectedVersion: 2 } }), 409, reused);
    expectProblem(await update(other.id, { headers }), 409, reused);
  });

  test("requires that the operation is the same", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const patient = patientOf(await service.request("POST", "/patients", { headers, body: registration() }));
    const answer = await update(patient.id, { headers });
    expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });
});

function update(id: PatientBody["id"], changes: RequestChanges = {}) {
  return service.request("PATCH", `/patients/${id}`, { body: CHANGES, ...changes });
}

async function stored(id: string): Promise<Record<string, unknown> | undefined> {
  return (await service.query(`SELECT * FROM patients WHERE id = '${id}'`))[0];
}

/** Returns the headers except those that depend on the time of the answer. */
function shared(headers: Headers): Record<string, string> {
  const { date: _date, ratelimit: _state, ...rest } = Object.fromEntries(headers);
  return rest;
}
