import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { createAppointment, createPatient } from "./fixtures.js";
import { rpcNamed } from "./published-operations.js";

const good = { category: "CLAIM", externalReference: "PQR-2026-17", description: "Solicito copia\nde mi cita." };

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("201", () => {
  test("returns a RECEIVED case with the current time, and none of the submitted data", async () => {
    const { status, body } = await record();
    expect([status, Object.keys(body).toSorted(), body["status"]]).toEqual([
      201,
      ["createdAt", "id", "status"],
      "RECEIVED",
    ]);
    expect(Math.abs(Date.parse(String(body["createdAt"])) - service.now())).toBeLessThan(60_000);
  });

  test.each(["INFORMATION_REQUEST", "COMPLAINT", "CLAIM", "SUGGESTION", "COMPLIMENT"])(
    "records a %s with all submitted data",
    async (category) => {
      const { body } = await record({ category });
      const { body: kept } = await callRpc(service, rpcNamed("GetCase"), {
        userAttentionCaseId: String(body["id"]),
      });
      expect(Object.values(kept)[0]).toMatchObject({ ...good, category });
    },
  );

  test("accepts the same external reference any number of times", async () => {
    expect([(await record()).status, (await record()).status]).toEqual([201, 201]);
  });

  test.each(["ACTIVE", "INACTIVE", "DECEASED"])("accepts a patient who is %s", async (status) => {
    const patientId = await createPatient(service);
    await service.query(`UPDATE patients SET status = '${status}' WHERE id = '${patientId}'`);
    expect((await record({ patientId })).status).toBe(201);
  });

  test("accepts an appointment with or without its patient", async () => {
    const patientId = await createPatient(service);
    const appointmentId = await createAppointment(service, patientId);
    expect((await record({ appointmentId })).status).toBe(201);
    expect((await record({ appointmentId, patientId })).status).toBe(201);
  });
});

describe("422", () => {
  test("rejects an appointment of another patient", async () => {
    const [patientId, other] = [await createPatient(service), await createPatient(service)];
    const appointmentId = await createAppointment(service, other);
    expectProblem(await record({ patientId, appointmentId }), 422, ["appointmentId INVALID_VALUE"]);
  });

  test("lists both patient and appointment if neither exists", async () => {
    const ids = { patientId: randomUUID(), appointmentId: randomUUID() };
    expectProblem(await record(ids), 422, ["patientId NOT_FOUND", "appointmentId NOT_FOUND"]);
  });
});

describe("422 for the description", () => {
  test.each([
    ["CONTAINS_DIAGNOSIS", "Me dieron el diagnóstico E11.9 y nadie me explicó."],
    ["CONTAINS_CREDENTIAL", "Mi contraseña es Tr0ub4dor&3 y no puedo entrar."],
    ["CONTAINS_FINANCIAL_DATA", "Me cobraron a la tarjeta 4111 1111 1111 1111 dos veces."],
  ])("rejects %s, and neither returns, logs nor stores the text", async (code, description) => {
    const answer = await record({ description });
    expectProblem(answer, 422, [`description ${code}`]);
    expect(answer.text).not.toContain(description);
    expect(JSON.stringify(service.log)).not.toContain(description);
    expect(await service.query(`SELECT FROM user_attention_cases WHERE description = '${description}'`)).toEqual([]);
  });

  test.each([
    ["CONTAINS_DIAGNOSIS", "diagnosticada con VIH"],
    ["CONTAINS_CREDENTIAL", "contraseña: Luna2024*"],
    ["CONTAINS_FINANCIAL_DATA", "4111 1111 1111 1111"],
  ])("rejects %s in the external reference too", async (code, externalReference) => {
    const answer = await record({ externalReference });
    expectProblem(answer, 422, [`externalReference ${code}`]);
    expect(answer.text).not.toContain(externalReference);
    expect(JSON.stringify(service.log)).not.toContain(externalReference);
  });

  test.each([
    "Esperé dos horas en el consultorio B12, piso 3, el 5 de marzo a las 10:30.",
    "Llamé al 300 555 0100 y al +57 601 555 0199; mi cédula es CC 1.032.456.789.",
    "La clave es llegar temprano: el turno A23 salió de la fila a las 8.",
  ])("accepts an ordinary complaint: %s", async (description) => {
    expect((await record({ description })).status).toBe(201);
  });
});

function record(changes: JsonObject = {}) {
  return service.request("POST", "/siau-cases", { body: { ...good, ...changes } });
}
