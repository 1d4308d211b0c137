import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { createRejectionPacing } from "../../src/interceptors/concurrency/rejection-pacing.js";
import {
  type ConcurrencyLimiter,
  concurrencyLimit,
  loadShedding,
  type PermitRejection,
  type PermitRequest,
} from "../../src/interceptors/concurrency-limit.js";
import { callWith, interceptorOf, refusal, requestOf, responseOf, run, tenantId } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;
const { previewRuleChange } = ProgramService.method;
const paceRejection = createRejectionPacing({ pause: async () => undefined, random: () => 0.5 });

test("acquires a permit for the principal, and releases it when the call ends", async () => {
  const { limiter, requests, isReleased } = onePermit();
  const request = requestOf(registerPatient, {}, callWith({ principal: { id: "issuer client" } }));
  let wasReleased: boolean | undefined;
  const stage = concurrencyLimit(limiter, limiter, paceRejection);
  await interceptorOf(
    stage,
    registerPatient,
  )(async () => {
    wasReleased = isReleased();
    return responseOf(request, create(registerPatient.output));
  })(request);
  expect(requests).toEqual([expect.objectContaining({ tenantId, principalId: "issuer client", isHeavy: false })]);
  expect([wasReleased, isReleased()]).toEqual([false, true]);
});

test("acquires a heavy permit for an operation that is marked as heavy", async () => {
  const { limiter, requests } = onePermit();
  await run(concurrencyLimit(limiter, limiter, paceRejection), requestOf(previewRuleChange, {}));
  expect(requests).toEqual([expect.objectContaining({ isHeavy: true })]);
});

test("releases the permit when the call fails", async () => {
  const { limiter, isReleased } = onePermit();
  const stage = concurrencyLimit(limiter, limiter, paceRejection);
  const failing = interceptorOf(stage, registerPatient)(() => Promise.reject(new CupoError("RESOURCE_NOT_FOUND")));
  expect((await refusal(failing(requestOf(registerPatient, {})))).code).toBe("RESOURCE_NOT_FOUND");
  expect(isReleased()).toBe(true);
});

test("rejects with 429 and Retry-After if the principal uses all its permits", async () => {
  const full = fullLimiter("PRINCIPAL");
  const error = await refusal(run(concurrencyLimit(full, full, paceRejection), requestOf(registerPatient, {})));
  expect([error.code, error.limit, error.errors]).toEqual(["RATE_LIMIT_EXCEEDED", "calls", []]);
  expect(error.headers).toEqual({ "Retry-After": "2" });
});

test.each([
  ["TENANT", "tenant_calls"],
  ["HEAVY", "heavy_calls"],
  ["PROCESS", "load"],
] as const)("rejects with 503, BUSY and Retry-After if another limit is reached: %s", async (whose, limit) => {
  const full = fullLimiter(whose);
  const error = await refusal(run(concurrencyLimit(full, full, paceRejection), requestOf(registerPatient, {})));
  expect([error.code, error.limit]).toEqual(["SERVICE_UNAVAILABLE", limit]);
  expect(error.errors).toEqual([{ code: "BUSY", field: "", message: expect.stringMatching(/^[A-Z].+\.$/) }]);
  expect(error.headers).toEqual({ "Retry-After": "2" });
});

test.each([
  ["PRINCIPAL", "RATE_LIMIT_EXCEEDED"],
  ["TENANT", "SERVICE_UNAVAILABLE"],
  ["HEAVY", "SERVICE_UNAVAILABLE"],
  ["PROCESS", "SERVICE_UNAVAILABLE"],
] as const)("load shedding rejects a call without a permit (%s) before its body is read", async (whose, code) => {
  const error = await refusal(run(loadShedding(fullLimiter(whose), paceRejection), requestOf(registerPatient, {})));
  expect(error.code).toBe(code);
});

test("load shedding accepts a call that would run or wait, and acquires no permit", async () => {
  const { limiter, requests } = onePermit();
  const { passed } = await run(loadShedding(limiter, paceRejection), requestOf(registerPatient, {}));
  expect([passed.length, requests.length]).toEqual([1, 0]);
});

function fullLimiter(why: PermitRejection): ConcurrencyLimiter {
  return { acquire: async () => why, rejectionFor: () => why };
}

function onePermit() {
  const requests: PermitRequest[] = [];
  let released = false;
  const limiter: ConcurrencyLimiter = {
    async acquire(request) {
      requests.push(request);
      return () => {
        released = true;
      };
    },
    rejectionFor: () => undefined,
  };
  return { limiter, requests, isReleased: () => released };
}
