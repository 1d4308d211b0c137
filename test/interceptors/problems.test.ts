import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Call } from "../../src/call.js";
import { type CupoError, conflict, validationFailed } from "../../src/errors.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { problems } from "../../src/interceptors/problems.js";
import { callWith, correlationId, requestOf, run } from "./run-interceptor.js";

const url = "https://api.example.org/problems";

test("passes a success and reports nothing", async () => {
  const observed: unknown[] = [];
  const { passed } = await run(
    problems(url, (error) => observed.push(error)),
    request(),
  );
  expect(passed).toHaveLength(1);
  expect(observed).toEqual([]);
});

test("adds the Problem to the details of the Connect error, after reporting it", async () => {
  const thrown = conflict(
    { code: "DUPLICATE", field: "documentNumber", message: "exists already" },
    { "Retry-After": "1" },
  );
  const call = callWith();
  call.responseHeaders["RateLimit"] = "x";
  const { error, observed } = await failing(thrown, call);
  expect(observed).toEqual([[thrown, call]]);
  expect(error.code).toBe(Code.AlreadyExists);
  expect(error.rawMessage).toBe("documentNumber: exists already.");
  expect(error.metadata.get("Retry-After")).toBe("1");
  expect(error.metadata.get("RateLimit")).toBe("x");
  expect(error.findDetails(ProblemSchema)).toMatchObject([
    {
      type: `${url}/conflict`,
      title: "Conflict",
      status: 409,
      code: "CONCURRENT_MODIFICATION",
      correlationId,
      detail: "documentNumber: exists already.",
      errors: [{ code: "DUPLICATE", field: "documentNumber", message: "exists already" }],
    },
  ]);
});

test.each([new Error("secret of the database"), "secret", undefined])(
  "turns any other error into an internal error: %s",
  async (thrown) => {
    const { error, observed } = await failing(thrown);
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toBe("Internal error");
    expect(error.findDetails(ProblemSchema)).toMatchObject([{ code: "INTERNAL_ERROR", errors: [] }]);
    expect(JSON.stringify(error.findDetails(ProblemSchema))).not.toContain("secret");
    expect(observed.map(([{ cause }]) => cause)).toEqual([thrown]);
  },
);

test.each([
  { type: "application/grpc", listed: 20 },
  { type: "application/grpc+proto", listed: 20 },
  { type: "application/grpc-web+proto", listed: 100 },
  { type: "application/proto", listed: 100 },
])("lists at most $listed errors for $type, because gRPC sends them in trailers", async ({ type, listed }) => {
  const item = { code: "NOT_FOUND", field: "patientId", message: "there is no such patient" } as const;
  const { error } = await failing(validationFailed(Array.from({ length: 101 }, () => item)), callWith(), type);
  const [problem] = error.findDetails(ProblemSchema);
  expect(problem?.errors.filter(({ code }) => code === "NOT_FOUND")).toHaveLength(listed);
});

test("passes Connect's own errors unchanged", async () => {
  const thrown = new ConnectError("no such method", Code.Unimplemented);
  const { error, observed } = await failing(thrown);
  expect(error).toBe(thrown);
  expect(observed).toEqual([]);
});

function request(call?: Call) {
  return requestOf(PatientService.method.registerPatient, {}, call);
}

/** Returns the error that reaches the caller when the next interceptor throws, and the reported errors. */
async function failing(thrown: unknown, call = callWith(), contentType = "application/proto") {
  const observed: [CupoError, Call][] = [];
  const stage = problems(url, (...seen) => observed.push(seen))();
  const sent = request(call);
  sent.header.set("Content-Type", contentType);
  const error: unknown = await stage(() => Promise.reject(thrown))(sent).catch((reason: unknown) => reason);
  if (!(error instanceof ConnectError)) throw new Error("no ConnectError", { cause: error });
  return { error, observed };
}
