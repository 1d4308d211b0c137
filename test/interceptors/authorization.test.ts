import { expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { WaitlistService } from "../../src/gen/cupo/access/v1/waitlist_service_pb.js";
import { authorization } from "../../src/interceptors/authorization.js";
import { callWith, refusal, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

test("accepts a principal with the scope of the operation", async () => {
  const call = callWith({ principal: { scopes: new Set(["waitlist:write", "patients:write"]) } });
  const { passed } = await run(authorization(), requestOf(registerPatient, {}, call));
  expect(passed).toHaveLength(1);
});

test.each(
  [[], ["waitlist:write"], ["patients:write:all"], ["patients"], ["PATIENTS:WRITE"], [""]].map((scopes) => ({
    scopes,
  })),
)("rejects the scopes $scopes with 403 and names the missing one", async ({ scopes }) => {
  const call = callWith({ principal: { scopes: new Set(scopes) } });
  const error = await refusal(run(authorization(), requestOf(registerPatient, {}, call)));
  expect(error.code).toBe("INSUFFICIENT_SCOPE");
  expect(error.detail).toBe("The access token lacks the scope patients:write.");
  expect(error.headers).toEqual({
    "WWW-Authenticate": 'Bearer realm="cupo", error="insufficient_scope", scope="patients:write"',
  });
});

test("requires the scope in the operation's proto", async () => {
  const call = callWith({ principal: { scopes: new Set(["patients:write"]) } });
  const error = await refusal(run(authorization(), requestOf(WaitlistService.method.createWaitlistEntry, {}, call)));
  expect(error.detail).toContain("waitlist:write");
});
