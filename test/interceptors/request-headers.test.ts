import { describe, expect, test } from "vitest";
import type { CallHeaders } from "../../src/call.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { requestHeaders } from "../../src/interceptors/request-headers.js";
import { callWith, correlationId, refusal, requestOf, run } from "./run-interceptor.js";

const { registerPatient } = PatientService.method;

describe("a good Idempotency-Key", () => {
  test.each(["k", "!~", "a,b", "6f1c", "x".repeat(255)])("passes: %s", async (key) => {
    const { passed } = await pass({ idempotencyKey: [key] });
    expect(passed).toHaveLength(1);
  });
});

describe("an Idempotency-Key is refused with 400", () => {
  test.each([
    { because: "it is missing", sent: [], code: "REQUIRED", message: "the header is required" },
    { because: "it is empty", sent: [""], code: "REQUIRED", message: "the header is required" },
    { because: "it was sent twice", sent: ["a", "a"], code: "INVALID_VALUE", message: "the header must be sent once" },
    {
      because: "it is too long",
      sent: ["x".repeat(256)],
      code: "TOO_LONG",
      message: "the key must have at most 255 characters",
    },
    ...["two words", "tab\there", "clé", "\u007f", "\u0000"].map((key) => ({
      because: `it has more than visible ASCII: ${JSON.stringify(key)}`,
      sent: [key],
      code: "INVALID_FORMAT",
      message: "the key must consist of visible ASCII characters",
    })),
  ])("where $because", async ({ sent, code, message }) => {
    const error = await refusal(pass({ idempotencyKey: sent }));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.detail).toBe("A header of the request cannot be used; see errors.");
    expect(error.errors).toEqual([{ code, field: "Idempotency-Key", message }]);
  });

  test("but not needed by a method that takes none", async () => {
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
    "passes: $sent",
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
  ])("is refused with 400: $sent", async ({ sent }) => {
    const error = await refusal(pass({ correlationId: sent }));
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.errors).toEqual([
      { code: "INVALID_UUID", field: "X-Correlation-Id", message: "the header must be one UUID" },
    ]);
  });
});

test("lists both headers where both are wrong", async () => {
  const error = await refusal(pass({ correlationId: ["x"], idempotencyKey: ["a b"] }));
  expect(error.errors.map(({ code, field }) => [code, field])).toEqual([
    ["INVALID_UUID", "X-Correlation-Id"],
    ["INVALID_FORMAT", "Idempotency-Key"],
  ]);
});

function pass(headers: Partial<CallHeaders>) {
  return run(requestHeaders(), requestOf(registerPatient, {}, callWith({ headers })));
}
