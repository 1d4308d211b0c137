import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import type { IdempotentWork } from "../../src/interceptors/idempotency.js";
import type { ServiceEntry } from "../../src/services/services.js";
import { type ComposedService, startComposedService } from "../support/composed-service.js";
import { expectProblem } from "../support/problem.js";
import { registration } from "../support/registration.js";
import { sendRequest } from "../support/rest-request.js";
import { patientRpc } from "../support/rpc-clients.js";

/** Runs the work and stores nothing. */
const store: IdempotentWork = {
  read: (_call, _principal, work) => work(),
  async execute(_claim, call, { tenantId }, work) {
    call.transaction = { tenantId, rows: async () => [], send: () => undefined, require: () => undefined };
    await work();
    return { kind: "EXECUTED" };
  },
};

const registerPatient = async () => ({ patient: { version: 1 } });

let service: ComposedService;

afterEach(() => service.close());

describe("an operation without an implementation", () => {
  test.each<[string, readonly ServiceEntry[]]>([
    ["whose service is not registered", []],
    ["whose service has no method", [{ service: PatientService, implementation: {} }]],
    ["whose service has another method", [{ service: PatientService, implementation: { registerPatient } }]],
  ])("%s is unimplemented over RPC, and not found over REST", async (_, services) => {
    service = await startComposedService(services, store);
    const rest = await sendRequest("PATCH", `${service.publicUrl}/patients/${randomUUID()}`, { body: {} });
    expectProblem(rest, 404);
    const headers = { "idempotency-key": randomUUID() };
    const request = { patientId: randomUUID(), fullName: "Ana", phone: "12345", expectedVersion: 1 };
    const connect = createConnectTransport({ baseUrl: service.internalUrl, httpVersion: "1.1" });
    expect((await patientRpc(connect).update(request, headers)).code).toBe(Code.Unimplemented);
  });

  test("does not affect other operations of its service", async () => {
    service = await startComposedService([{ service: PatientService, implementation: { registerPatient } }], store);
    const rest = await sendRequest("POST", `${service.publicUrl}/patients`, { body: registration() });
    expect([rest.status, rest.body]).toEqual([201, { version: 1 }]);
  });
});
