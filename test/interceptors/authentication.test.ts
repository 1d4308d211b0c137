import { expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { authentication } from "../../src/interceptors/authentication.js";
import { callWith, principalWith, refusal, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;
const principal = principalWith({ clientId: "named by the token" });

test.each([
  { sent: [], judged: null },
  { sent: ["Bearer a"], judged: "Bearer a" },
  { sent: [""], judged: "" },
  { sent: ["Bearer a", "Bearer b"], judged: "Bearer a, Bearer b" },
])("passes the headers $sent to the verifier as $judged", async ({ sent, judged }) => {
  const seen: (string | null)[] = [];
  const verify = async (authorization: string | null) => {
    seen.push(authorization);
    return principal;
  };
  const call = callWith({ headers: { authorization: sent } });
  delete call.principal;
  const result = await run(authentication(verify), requestOf(registerPatient, {}, call));
  expect(seen).toEqual([judged]);
  expect(result.passed).toHaveLength(1);
  expect(result.call.principal).toBe(principal);
});

test("sets the operation on the call, even if the token is rejected", async () => {
  const call = callWith();
  const verify = () => Promise.reject(new CupoError("INVALID_ACCESS_TOKEN"));
  const error = await refusal(run(authentication(verify), requestOf(registerPatient, {}, call)));
  expect(error.code).toBe("INVALID_ACCESS_TOKEN");
  expect(call.operation).toBe("cupo.access.v1.PatientService/RegisterPatient");
});
