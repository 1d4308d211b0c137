import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import {
  callsAtWork,
  type NoPlace,
  overload,
  type Worker,
  type Workplaces,
} from "../../src/interceptors/calls-at-work.js";
import { createTurnAway } from "../../src/interceptors/places/turn-away.js";
import { callWith, refusal, requestOf, responseOf, run, tenantId } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;
const { previewRuleChange } = ProgramService.method;
const turnAway = createTurnAway({ pause: async () => undefined, random: () => 0.5 });

test("asks for a place for the principal of a tenant, and leaves it when the call is done", async () => {
  const { places, workers, isLeft } = onePlace();
  const request = requestOf(registerPatient, {}, callWith({ principal: { id: "issuer client" } }));
  let wasLeft: boolean | undefined;
  await callsAtWork(
    places,
    places,
    turnAway,
  )(async () => {
    wasLeft = isLeft();
    return responseOf(request, create(registerPatient.output));
  })(request);
  expect(workers).toEqual([expect.objectContaining({ tenantId, principalId: "issuer client", isHeavy: false })]);
  expect([wasLeft, isLeft()]).toEqual([false, true]);
});

test("says of an operation that is marked so that it is heavy", async () => {
  const { places, workers } = onePlace();
  await run(callsAtWork(places, places, turnAway), requestOf(previewRuleChange, {}));
  expect(workers).toEqual([expect.objectContaining({ isHeavy: true })]);
});

test("leaves the place when the call fails", async () => {
  const { places, isLeft } = onePlace();
  const failing = callsAtWork(places, places, turnAway)(() => Promise.reject(new CupoError("RESOURCE_NOT_FOUND")));
  expect((await refusal(failing(requestOf(registerPatient, {})))).code).toBe("RESOURCE_NOT_FOUND");
  expect(isLeft()).toBe(true);
});

test("refuses with 429 and Retry-After where there is no place", async () => {
  const full = fullPlaces("LIMIT");
  const error = await refusal(run(callsAtWork(full, full, turnAway), requestOf(registerPatient, {})));
  expect([error.code, error.limit]).toEqual(["RATE_LIMIT_EXCEEDED", "calls"]);
  expect(error.headers).toEqual({ "Retry-After": "1" });
});

test("refuses with 503 and Retry-After where the service has more to do than it can", async () => {
  const full = fullPlaces("OVERLOAD");
  const error = await refusal(run(callsAtWork(full, full, turnAway), requestOf(registerPatient, {})));
  expect([error.code, error.limit]).toEqual(["SERVICE_UNAVAILABLE", "load"]);
  expect(error.headers).toEqual({ "Retry-After": "2" });
});

test.each([
  ["LIMIT", "RATE_LIMIT_EXCEEDED"],
  ["OVERLOAD", "SERVICE_UNAVAILABLE"],
] as const)("a call that would find no place (%s) is refused on its headers", async (why, code) => {
  const error = await refusal(run(overload(fullPlaces(why), turnAway), requestOf(registerPatient, {})));
  expect(error.code).toBe(code);
});

test("a call that would work or wait goes on, and takes no place yet", async () => {
  const { places, workers } = onePlace();
  const { passed } = await run(overload(places, turnAway), requestOf(registerPatient, {}));
  expect([passed.length, workers.length]).toEqual([1, 0]);
});

function fullPlaces(why: NoPlace): Workplaces {
  return { take: async () => why, refusalOf: () => why };
}

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
    refusalOf: () => undefined,
  };
  return { places, workers, isLeft: () => left };
}
