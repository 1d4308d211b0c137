import { describe, expect, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { actor } from "../../src/interceptors/actor.js";
import { callWith, refusal, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

describe("an Actor-Id", () => {
  test.each(["7", "user|42", "!~", "x".repeat(128)])("is stored on the call unchanged: %s", async (id) => {
    const call = callWith({ headers: { actorId: [id] } });
    const { passed } = await run(actor(), requestOf(registerPatient, {}, call));
    expect([passed.length, call.actor]).toEqual([1, id]);
  });

  test("is optional", async () => {
    const call = callWith();
    const { passed } = await run(actor(), requestOf(registerPatient, {}, call));
    expect([passed.length, call.actor]).toEqual([1, undefined]);
  });

  test.each([
    { because: "is empty", sent: [""], code: "TOO_SHORT" },
    { because: "is too long", sent: ["x".repeat(129)], code: "TOO_LONG" },
    { because: "was sent twice", sent: ["a", "a"], code: "INVALID_VALUE" },
    { because: "contains a space", sent: ["Ana Ruiz"], code: "INVALID_FORMAT" },
    { because: "contains non-ASCII characters", sent: ["añil"], code: "INVALID_FORMAT" },
  ])("is rejected with 400 if it $because", async ({ sent, code }) => {
    const call = callWith({ headers: { actorId: sent } });
    const error = await refusal(run(actor(), requestOf(registerPatient, {}, call)));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.errors).toEqual([{ code, field: "Actor-Id", message: expect.any(String) }]);
    expect(JSON.stringify(error.errors)).not.toContain("Ana");
    expect(call.actor).toBeUndefined();
  });
});
