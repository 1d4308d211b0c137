import { describe, expect, test } from "vitest";
import {
  busy,
  CupoError,
  conflict,
  type ErrorCode,
  errorTable,
  invalidRequest,
  unknownReferences,
  validationFailed,
} from "../../src/errors.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.js";
import { errorDetailsOf } from "../../src/interceptors/error-details.js";

const item = { code: "NOT_FOUND", field: "patientId", message: "there is no such patient" } as const;

describe("the details of an error", () => {
  test.each(Object.keys(errorTable) as ErrorCode[])("always contain the reason: %s", (code) => {
    const [info, ...others] = errorDetailsOf(new CupoError(code));
    const metadata = { code, status: String(errorTable[code].status) };
    expect(info).toMatchObject({ desc: ErrorInfoSchema, value: { reason: code, domain: "cupo", metadata } });
    expect(others).toEqual([]);
  });

  test.each([
    { kind: "a request", error: invalidRequest([item]) },
    { kind: "a reference", error: unknownReferences([item]) },
    { kind: "a rule", error: validationFailed([item]) },
  ])("contain the invalid field of $kind", ({ error }) => {
    const fieldViolations = [{ field: "patientId", reason: "NOT_FOUND", description: "there is no such patient" }];
    const [info, badRequest] = errorDetailsOf(error);
    expect(badRequest).toMatchObject({ desc: BadRequestSchema, value: { fieldViolations } });
    expect(info).not.toHaveProperty("value.metadata.field");
  });

  test("contain no BadRequest if the state prevents the call", () => {
    const details = errorDetailsOf(conflict({ ...item, code: "SLOT_OCCUPIED" }));
    expect(details).toMatchObject([{ value: { reason: "SLOT_OCCUPIED", metadata: { field: "patientId" } } }]);
  });

  test("contain the cause of a 503, and no BadRequest", () => {
    const details = errorDetailsOf(busy("Others are busy.", 2));
    const metadata = { code: "SERVICE_UNAVAILABLE", status: "503" };
    expect(details).toMatchObject([
      { desc: ErrorInfoSchema, value: { reason: "BUSY", metadata } },
      { desc: RetryInfoSchema, value: { retryDelay: { seconds: 2n } } },
    ]);
    expect(details[0]).not.toHaveProperty("value.metadata.field");
  });

  test("contain at most twenty fields, because they are sent in trailers", () => {
    const details = errorDetailsOf(validationFailed(Array.from({ length: 21 }, () => item)));
    expect(details.at(1)).toMatchObject({ value: { fieldViolations: Array.from({ length: 20 }, () => ({})) } });
  });
});
