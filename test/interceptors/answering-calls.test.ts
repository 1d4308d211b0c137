import { create, toBinary } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Call } from "../../src/call.js";
import { PatientService, RegisterPatientResponseSchema } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { Operation_IdempotencyKey } from "../../src/gen/cupo/options/v1/options_pb.js";
import { answeringCalls } from "../../src/interceptors/answering-calls.js";
import { valuesOf } from "../../src/open-call.js";
import { describeTreeService } from "./described-service.js";
import { callWith, tenantId } from "./run-interceptor.js";

const response = create(RegisterPatientResponseSchema, { patient: { id: "first", version: 1 } });

test("returns the stored response without running the implementation if the call is a replay", async () => {
  const { register, done } = counted();
  const call = callWith();
  call.storedResponse = toBinary(RegisterPatientResponseSchema, response);
  expect(await register(call)).toEqual(response);
  expect(done()).toBe(0);
});

test("runs the implementation in any other call", async () => {
  const { register, done } = counted();
  expect(await register(ready())).toEqual({ patient: { id: "done 1" } });
  expect(done()).toBe(1);
});

test("throws for a call that has not passed every interceptor", () => {
  const { register, done } = counted();
  expect(() => register(callWith())).toThrow("every stage");
  expect(done()).toBe(0);
});

test("adds no implementation to an unimplemented method", () => {
  const { implementation } = answeringCalls({
    service: PatientService,
    implementation: { registerPatient: () => ({}) },
  });
  expect(Object.keys(implementation)).toEqual(["registerPatient"]);
});

test("throws for a streaming method with an idempotency key", () => {
  const { service } = describeTreeService("trees:watch", Operation_IdempotencyKey.REQUIRED);
  expect(() => answeringCalls({ service, implementation: { watch: () => [] } })).toThrow("takes an idempotency key");
});

function ready(): Call {
  const transaction = { tenantId, rows: async () => [], send: () => undefined, require: () => undefined };
  return { ...callWith(), operation: "cupo.access.v1.PatientService/RegisterPatient", transaction };
}

function counted() {
  let count = 0;
  const { implementation } = answeringCalls({
    service: PatientService,
    implementation: {
      registerPatient() {
        count += 1;
        return { patient: { id: `done ${count}` } };
      },
    },
  });
  const register = (call: ReturnType<typeof callWith>): unknown => {
    const method = PatientService.method.registerPatient;
    const context = createHandlerContext({
      service: PatientService,
      method,
      protocolName: "connect",
      requestMethod: "POST",
      url: "http://localhost/",
      contextValues: valuesOf(call),
    });
    return Reflect.apply(implementation.registerPatient, undefined, [create(method.input), context]);
  };
  return { register, done: () => count };
}
