import { create, toBinary } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { PatientService, RegisterPatientResponseSchema } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { answeringReplays } from "../../src/interceptors/answering-replays.js";
import { valuesOf } from "../../src/interceptors/open-call.js";
import { callWith } from "./run-interceptor.js";

const response = create(RegisterPatientResponseSchema, { patient: { id: "first", version: 1 } });

test("answers with the stored response, and does nothing, where the call replays an earlier one", async () => {
  const { register, done } = counted();
  const call = callWith();
  call.storedResponse = toBinary(RegisterPatientResponseSchema, response);
  expect(await register(call)).toEqual(response);
  expect(done()).toBe(0);
});

test("does what the implementation does in any other call", async () => {
  const { register, done } = counted();
  expect(await register(callWith())).toEqual({ patient: { id: "done 1" } });
  expect(done()).toBe(1);
});

test("leaves a method unimplemented that is", () => {
  const { implementation } = answeringReplays({
    service: PatientService,
    implementation: { registerPatient: () => ({}) },
  });
  expect(Object.keys(implementation)).toEqual(["registerPatient"]);
});

function counted() {
  let count = 0;
  const { implementation } = answeringReplays({
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
