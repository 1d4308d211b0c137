import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { callsAtWork, type Worker, type Workplaces } from "../../src/interceptors/calls-at-work.js";
import { callWith, refusal, requestOf, responseOf, run, tenantId } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;
const { previewRuleChange } = ProgramService.method;

test("asks for a place for the principal of a tenant, and leaves it when the call is done", async () => {
  const { places, workers, isLeft } = onePlace();
  const request = requestOf(registerPatient, {}, callWith({ principal: { id: "issuer client" } }));
  let wasLeft: boolean | undefined;
  await callsAtWork(
    places,
    places,
  )(async () => {
    wasLeft = isLeft();
    return responseOf(request, create(registerPatient.output));
  })(request);
  expect(workers).toEqual([expect.objectContaining({ tenantId, principalId: "issuer client", isHeavy: false })]);
  expect([wasLeft, isLeft()]).toEqual([false, true]);
});

test("says of an operation that is marked so that it is heavy", async () => {
  const { places, workers } = onePlace();
  await run(callsAtWork(places, places), requestOf(previewRuleChange, {}));
  expect(workers).toEqual([expect.objectContaining({ isHeavy: true })]);
});

test("leaves the place when the call fails", async () => {
  const { places, isLeft } = onePlace();
  const failing = callsAtWork(places, places)(() => Promise.reject(new CupoError("RESOURCE_NOT_FOUND")));
  expect((await refusal(failing(requestOf(registerPatient, {})))).code).toBe("RESOURCE_NOT_FOUND");
  expect(isLeft()).toBe(true);
});

test("refuses with 429 and Retry-After where there is no place", async () => {
  const full = { take: async () => undefined };
  const error = await refusal(run(callsAtWork(full, full), requestOf(registerPatient, {})));
  expect(error.code).toBe("RATE_LIMIT_EXCEEDED");
  expect(error.headers).toEqual({ "Retry-After": "1" });
});

function onePlace() {
  const workers: Worker[] = [];
  let left = false;
  const places: Workplaces = {
    async take(worker) {
      workers.push(worker);
      return () => {
        left = true;
      };
    },
  };
  return { places, workers, isLeft: () => left };
}
