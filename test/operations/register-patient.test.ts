import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditOf, countCommits } from "../support/audit.js";
import { sendAtOnce } from "../support/once.js";
import { expectProblem, messagesOf } from "../support/problem.js";
import { patientOf, registration } from "../support/registration.js";
import type { RequestChanges } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { describeCommonAnswers, type OperationUnderTest } from "./common-answers.js";
import { describeIdempotency } from "./idempotent-answers.js";

const MINUTE_MS = 60_000;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

const operation: OperationUnderTest = {
  method: "POST",
  scope: "patients:write",
  successStatus: 201,
  prepare: async () => ({ path: "/patients", body: registration() }),
};

describeCommonAnswers(operation, () => service);
describeIdempotency(operation, () => service);

describe("422 for forbidden content of a text", () => {
  test.each([
    ["fullName", "CONTAINS_CREDENTIAL", "contraseña: Luna2024*"],
    ["fullName", "CONTAINS_FINANCIAL_DATA", "Ana Gómez 4111 1111 1111 1111"],
    ["fullName", "CONTAINS_DIAGNOSIS", "Ana Gómez diagnosticada con VIH"],
    ["phone", "CONTAINS_CREDENTIAL", "300 555 0100 contraseña: Luna2024*"],
    ["phone", "CONTAINS_FINANCIAL_DATA", "4111 1111 1111 1111"],
    ["documentNumber", "CONTAINS_FINANCIAL_DATA", "4111111111111111"],
  ])("rejects %s with %s, and neither repeats nor stores the text", async (field, code, text) => {
    const answer = await register({ body: { ...registration(), [field]: text } });
    expectProblem(answer, 422, [`${field} ${code}`]);
    expect(answer.text).not.toContain(text);
    expect(JSON.stringify(service.log)).not.toContain(text);
    expect(await service.query(`SELECT FROM patients WHERE '${text}' IN (full_name, phone, document_number)`)).toEqual(
      [],
    );
  });
});

describe("201", () => {
  test("returns the patient, active and at version 1, with every member as it was sent", async () => {
    const { consentGrantedAt: _, ...sent } = registration({ documentType: "cc", documentNumber: "01.020-30/4" });
    const answer = await register({ body: registration(sent) });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ ...sent, id: expect.any(String), status: "ACTIVE", version: 1 });
    expect(patientOf(answer).id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  test("omits the email if none was sent", async () => {
    const answer = await register({ body: registration({ email: undefined }) });
    expect(answer.status).toBe(201);
    expect(answer.body).not.toHaveProperty("email");
  });

  test("returns the document number only to a token with the scope for it", async () => {
    const body = registration();
    const hidden = await register({ body, token: await service.token({ scopes: ["patients:write"] }) });
    expect(hidden.status).toBe(201);
    expect(hidden.body).not.toHaveProperty("documentNumber");
    expect(hidden.text).not.toContain(body.documentNumber);
  });

  test("keeps names in any script, and their leading and trailing blanks, as sent", async () => {
    const fullName = " José Ñ. O’Brien-Muñoz 王小明 👩‍⚕️ ";
    expect(patientOf(await register({ body: registration({ fullName }) })).fullName).toBe(fullName);
  });

  test("records the consent: its time, its source and the request", async () => {
    const answer = await register({ body: registration({ consentGrantedAt: "2026-01-15T10:00:00.5-05:00" }) });
    const { id } = patientOf(answer);
    const rows = await service.query(
      `SELECT tenant_id, granted_at, principal, correlation_id FROM patient_consents WHERE patient_id = '${id}'`,
    );
    expect(rows).toEqual([
      {
        tenant_id: service.tenantId,
        granted_at: new Date("2026-01-15T15:00:00.5Z"),
        principal: expect.stringMatching(/\btest$/),
        correlation_id: answer.headers.get("x-correlation-id"),
      },
    ]);
  });

  test("writes one audit row in the transaction of the patient, consent and stored result", async () => {
    const answer = await register();
    expect(await auditOf(service, answer)).toEqual([
      {
        tenant_id: service.tenantId,
        operation: "cupo.access.v1.PatientService/RegisterPatient",
        principal: expect.stringMatching(/\btest$/),
        action: "CREATE",
        resource_type: "Patient",
        resource_id: patientOf(answer).id,
        resource_version: 1,
      },
    ]);
    expect(await countCommits(service, answer)).toBe(1);
  });

  test("accepts a consent up to five minutes ahead of the service's clock", async () => {
    expect((await register({ body: registration({ consentGrantedAt: inMs(4 * MINUTE_MS) }) })).status).toBe(201);
  });
});

describe("409 DUPLICATE", () => {
  test.each([
    ["the same document", {}],
    ["another case of the type", { documentType: "pAsSpOrT" }],
    ["another case of the number", { documentNumber: "ab1020304" }],
    ["other spaces, dots, hyphens and slashes in the number", { documentNumber: "A.B/10-20 304" }],
  ])("rejects %s while its patient is active", async (_, changes) => {
    const tenantId = randomUUID();
    const document = { documentType: "PASSPORT", documentNumber: "AB-10 20.30/4" };
    expect((await register({ body: registration(document), token: await service.token({ tenantId }) })).status).toBe(
      201,
    );
    const token = await service.token({ tenantId });
    const answer = await register({ body: registration({ ...document, ...changes }), token });
    expectProblem(answer, 409, ["documentNumber DUPLICATE"]);
  });

  test.each([
    ["another type", { documentType: "CE" }],
    ["another number", { documentNumber: "10203041" }],
    ["leading zeros", { documentNumber: "01020304" }],
  ])("accepts %s as a different document", async (_, changes) => {
    const token = await service.token({ tenantId: randomUUID() });
    const body = registration({ documentNumber: "1020304" });
    expect((await register({ body, token })).status).toBe(201);
    expect((await register({ body: { ...body, ...changes }, token })).status).toBe(201);
  });

  test("compares only patients of the same tenant", async () => {
    const body = registration();
    expect((await register({ body })).status).toBe(201);
    const token = await service.token({ tenantId: randomUUID() });
    expect((await register({ body, token })).status).toBe(201);
  });

  test.each(["INACTIVE", "DECEASED"])("ignores a patient who is %s", async (status) => {
    const body = registration();
    const { id } = patientOf(await register({ body }));
    await service.query(`UPDATE patients SET status = '${status}' WHERE id = '${id}'`);
    expect((await register({ body })).status).toBe(201);
  });

  test("leaves the key unused and writes nothing", async () => {
    const body = registration();
    await register({ body });
    const headers = { "idempotency-key": randomUUID(), "x-correlation-id": randomUUID() };
    expectProblem(await register({ body, headers }), 409, ["documentNumber DUPLICATE"]);
    const id = headers["x-correlation-id"];
    expect(await service.query(`SELECT FROM audit_events WHERE correlation_id = '${id}'`)).toEqual([]);
    expect(await service.query(`SELECT FROM patient_consents WHERE correlation_id = '${id}'`)).toEqual([]);
    expect((await register({ body: registration(), headers })).status).toBe(201);
  });

  test("accepts one of many concurrent registrations of a document", async () => {
    const body = registration();
    const answers = await sendAtOnce(service.publicUrl, 16, () => register({ body }));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, ["documentNumber DUPLICATE"]);
  });
});

describe("422", () => {
  test("lists every missing field, in the order of the contract", async () => {
    expectProblem(await register({ body: {} }), 422, [
      "documentType REQUIRED",
      "documentNumber REQUIRED",
      "fullName REQUIRED",
      "phone REQUIRED",
      "consentGrantedAt REQUIRED",
    ]);
  });

  test("lists every invalid field at once, unknown ones last", async () => {
    const answer = await register({
      body: {
        clinicalHistory: "none",
        consentGrantedAt: "2026-02-30T00:00:00Z",
        email: "ana",
        phone: null,
        fullName: "x".repeat(201),
        documentNumber: 5,
        documentType: "",
      },
    });
    expectProblem(answer, 422, [
      "documentType TOO_SHORT",
      "documentNumber INVALID_TYPE",
      "fullName TOO_LONG",
      "phone INVALID_TYPE",
      "email INVALID_EMAIL",
      "consentGrantedAt INVALID_DATE_TIME",
      "clinicalHistory UNKNOWN_FIELD",
    ]);
  });

  test("rejects a consent in the future", async () => {
    const answer = await register({ body: registration({ consentGrantedAt: inMs(6 * MINUTE_MS) }) });
    expectProblem(answer, 422, ["consentGrantedAt OUT_OF_RANGE"]);
    const [, latest = ""] = / future: (\S+) at the latest$/.exec(messagesOf(answer).join()) ?? [];
    expect(Math.abs(Date.parse(latest) - service.now() - 5 * MINUTE_MS)).toBeLessThan(MINUTE_MS);
  });

  test("never repeats the values that were sent", async () => {
    const answer = await register({ body: registration({ email: "secret-value", phone: "secret-value" }) });
    expectProblem(answer, 422, ["phone INVALID_FORMAT", "email INVALID_EMAIL"]);
    expect(answer.text).not.toContain("secret-value");
  });

  test.each([
    ["documentType", ["X".repeat(32), "pasaporte_2-A", "Cédula"], ["X".repeat(33), "C C", "C.C", " CC", "\t"]],
    [
      "documentNumber",
      ["9".repeat(32), "A 1.2-3/4", "-1", "7"],
      ["9".repeat(33), "", " 1", "1 ", " ", ".-/", "1_2", "1\n2"],
    ],
    ["fullName", ["😀".repeat(200), "X", "Jose\u0301"], ["😀".repeat(201), "", "   ", "A\nB", "A\u0000B", "\ud800"]],
    ["phone", ["12345", "x".repeat(59) + "12345"], ["1234", "x".repeat(60) + "12345", "", "12345\n"]],
    ["email", ["a@b.co", `${"a".repeat(64)}@example.com`], ["", "a", "a@", "@b.co", "a@b@c.co", "Ana <a@b.co>"]],
    ["email", [], [`${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(62)}`]],
    [
      "consentGrantedAt",
      ["2024-02-29T23:59:59.999999999-05:00", "0001-01-01T00:00:00Z"],
      ["2026-01-15", "2026-01-15T10:00:00", "2026-01-15T24:00:00Z", "2025-02-29T10:00:00Z", "today", ""],
    ],
  ])("enforces the limits of %s", async (field, good, bad) => {
    for (const value of good) {
      const answer = await register({ body: registration(freshDocument({ [field]: value })) });
      expect({ value, status: answer.status }).toEqual({ value, status: 201 });
    }
    for (const value of bad) {
      const answer = await register({ body: registration({ [field]: value }) });
      expect({ value, status: answer.status }).toEqual({ value, status: 422 });
      expectProblem(answer, 422, [expect.stringMatching(`^${field} `)]);
    }
  });
});

describe("a replay", () => {
  test("succeeds even if its consent would be in the future by now", async () => {
    const key = { "idempotency-key": randomUUID() };
    const body = registration({ consentGrantedAt: inMs(0) });
    const first = await register({ body, headers: key });
    service.advance(-60 * MINUTE_MS);
    try {
      const second = await register({ body, headers: key });
      expect([second.status, second.text]).toEqual([201, first.text]);
      expectProblem(await register({ body }), 422, ["consentGrantedAt OUT_OF_RANGE"]);
    } finally {
      service.advance(60 * MINUTE_MS);
    }
  });

  test("succeeds whatever has happened to the patient since", async () => {
    const request = { body: registration(), headers: { "idempotency-key": randomUUID() } };
    const first = await register(request);
    const { id } = patientOf(first);
    await service.query(`UPDATE patients SET full_name = 'X', status = 'DECEASED', version = 7 WHERE id = '${id}'`);
    expect((await register(request)).text).toBe(first.text);
    expect(await service.query(`SELECT FROM patient_consents WHERE patient_id = '${id}'`)).toHaveLength(1);
  });

  test("accepts an instant that is written with another offset", async () => {
    const body = registration({ consentGrantedAt: "2026-01-15T10:00:00-05:00" });
    const headers = { "idempotency-key": randomUUID() };
    const first = await register({ body, headers });
    const second = await register({ body: { ...body, consentGrantedAt: "2026-01-15t15:00:00.000z" }, headers });
    expect([second.status, second.text]).toEqual([201, first.text]);
  });

  test("returns the document number by the scopes of its own token, not of the first", async () => {
    const blind = await service.token({ scopes: ["patients:write"] });
    const seeing = await service.token({ scopes: ["patients:write", "patients:document:read"] });
    for (const [first, second] of [
      [blind, seeing],
      [seeing, blind],
    ]) {
      const request = { body: registration(), headers: { "idempotency-key": randomUUID() } };
      await register({ ...request, token: `${first}` });
      const replay = await register({ ...request, token: `${second}` });
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
      const seen = second === seeing ? request.body.documentNumber : undefined;
      expect(patientOf(replay).documentNumber).toBe(seen);
    }
  });
});

function register(changes: RequestChanges = {}) {
  return service.request("POST", "/patients", { body: registration(), ...changes });
}

/** Adds a unique document type to a changed registration, so that documents of different tests differ. */
function freshDocument(changes: Record<string, string>): Record<string, string> {
  return "documentNumber" in changes ? { documentType: randomUUID().slice(0, 32), ...changes } : changes;
}

function inMs(ms: number): string {
  return new Date(service.now() + ms).toISOString();
}
