import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { responseHeaders } from "../../src/interceptors/response-headers.js";
import { callWith, interceptorOf, requestOf, responseOf } from "./run-interceptor.js";

test("sends the headers that inner interceptors set on the call", async () => {
  const call = callWith();
  const request = requestOf(PatientService.method.registerPatient, {}, call);
  const response = await interceptorOf(
    responseHeaders(),
    request.method,
  )(async () => {
    call.responseHeaders["RateLimit"] = '"minute";r=1;t=2';
    call.responseHeaders["Idempotent-Replayed"] = "true";
    return responseOf(request, create(request.method.output));
  })(request);
  expect([...response.header]).toEqual([
    ["idempotent-replayed", "true"],
    ["ratelimit", '"minute";r=1;t=2'],
  ]);
});
