import { describe, expect, test } from "vitest";
import type { CallHeaders } from "../../src/call.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { requestHeaders } from "../../src/interceptors/request-headers.js";
import { callWith, correlationId, refusal, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

describe("a valid Idempotency-Key", () => {
  test.each(["k", "!~", "a,b", "6f1c", "x".repeat(255)])("is accepted: %s", async (key) => {
    const { passed } = await pass({ idempotencyKey: [key] });
    expect(passed).toHaveLength(1);
  });
});

describe("an Idempotency-Key is rejected with 400", () => {
  test.each([
    { because: "it is missing", sent: [], code: "REQUIRED", message: "the header is required" },
    { because: "it is empty", sent: [""], code: "REQUIRED", message: "the header is required" },
    { because: "it was sent twice", sent: ["a", "a"], code: "INVALID_VALUE", message: "the header must be sent once" },
    {
      because: "it is too long",
      sent: ["x".repeat(256)],
      code: "TOO_LONG",
      message: "the value must have at most 255 characters",
    },
    ...["two words", "tab\there", "clé", "\u007f", "\u0000"].map((key) => ({
      because: `it has more than visible ASCII: ${JSON.stringify(key)}`,
      sent: [key],
      code: "INVALID_FORMAT",
      message: "the value must consist of visible ASCII characters",
    })),
  ])("if $because", async ({ sent, code, message }) => {
    const error = await refusal(pass({ idempotencyKey: sent }));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.errors).toEqual([{ code, field: "Idempotency-Key", message }]);
  });

  test("but not required by a method without keys", async () => {
    const method = PatientDirectoryService.method.getPatient;
    const { passed } = await run(
      requestHeaders(),
      requestOf(method, {}, callWith({ headers: { idempotencyKey: [] } })),
    );
    expect(passed).toHaveLength(1);
  });
});

describe("an X-Correlation-Id", () => {
  test.each([{ sent: [] }, { sent: [correlationId] }, { sent: [correlationId.toUpperCase()] }])(
    "is accepted: $sent",
    async ({ sent }) => {
      const { passed } = await pass({ correlationId: sent });
      expect(passed).toHaveLength(1);
    },
  );

  test.each([
    { sent: [""] },
    { sent: ["42"] },
    { sent: [`{${correlationId}}`] },
    { sent: [correlationId.replaceAll("-", "")] },
    { sent: [`${correlationId} `] },
    { sent: [correlationId, correlationId] },
  ])("is rejected with 400: $sent", async ({ sent }) => {
    const error = await refusal(pass({ correlationId: sent }));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.errors).toEqual([
      { code: "INVALID_UUID", field: "X-Correlation-Id", message: "the header must be one UUID" },
    ]);
  });
});

test("lists both headers if both are invalid", async () => {
  const error = await refusal(pass({ correlationId: ["x"], idempotencyKey: ["a b"] }));
  expect(error.errors.map(({ code, field }) => [code, field])).toEqual([
    ["INVALID_UUID", "X-Correlation-Id"],
    ["INVALID_FORMAT", "Idempotency-Key"],
  ]);
});

function pass(headers: Partial<CallHeaders>) {
  return run(requestHeaders(), requestOf(registerPatient, {}, callWith({ headers })));
}
