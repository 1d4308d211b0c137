import { listViolations } from "@cupo/connect-rest";
import { describe, expect, test } from "vitest";
import type { FieldError } from "../../../src/errors.js";
import { CatalogService } from "../../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { invalidMessage, validation } from "../../../src/interceptors/validation/validation.js";
import { refusal, requestOf, run } from "../run-interceptor.js";

const { updateAppointmentType } = CatalogService.method;
const { updatePatient } = PatientService.method;
const id = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a";
const name: FieldError = { code: "TOO_LONG", field: "name", message: "too long" };
const code: FieldError = { code: "REQUIRED", field: "code", message: "missing" };
const ofPath: FieldError = { code: "INVALID_UUID", field: "id", message: "no UUID" };

describe("a request", () => {
  test("that is valid reaches the next interceptor in its normalized form", async () => {
    const request = requestOf(updateAppointmentType, { id: id.toUpperCase(), code: "A" });
    const { passed } = await run(
      validation(() => () => [], listViolations),
      request,
    );
    expect(passed.map(({ message }) => message)).toEqual([
      expect.objectContaining({ id, code: "A", updateMask: expect.objectContaining({ paths: ["code"] }) }),
    ]);
  });

  test("is validated with the schema of its method", async () => {
    const seen: unknown[] = [];
    const request = requestOf(updateAppointmentType, { id });
    await run(
      validation(
        (schema) => (message) => {
          seen.push(schema, message);
          return [];
        },
        listViolations,
      ),
      request,
    );
    expect(seen).toEqual([updateAppointmentType.input, request.message]);
  });

  test("that is invalid is rejected with 422 and every error", async () => {
    const error = await refusal(
      run(
        validation(() => () => [code, name], listViolations),
        requestOf(updateAppointmentType, { id }),
      ),
    );
    expect([error.code, error.errors]).toEqual(["VALIDATION_FAILED", [code, name]]);
  });

  test("is rejected for its update mask too, in the order of the fields", async () => {
    const request = requestOf(updateAppointmentType, { id, updateMask: { paths: ["colour", "active"] } });
    const error = await refusal(
      run(
        validation(() => () => [name], listViolations),
        request,
      ),
    );
    expect(error.errors.map(({ field, code: what }) => `${field} ${what}`)).toEqual([
      "name TOO_LONG",
      "active REQUIRED",
      "updateMask INVALID_VALUE",
    ]);
  });

  test("reports a field once if both a rule and the mask require it", async () => {
    const request = requestOf(updatePatient, { patientId: id, updateMask: { paths: ["full_name"] } });
    const missing: FieldError = { code: "REQUIRED", field: "fullName", message: "missing" };
    const error = await refusal(
      run(
        validation(() => () => [missing], listViolations),
        request,
      ),
    );
    expect(error.errors).toEqual([missing]);
  });
});

describe("an invalid message", () => {
  test("is rejected with 422 for fields of the body", () => {
    const error = invalidMessage(updateAppointmentType, listViolations)([code]);
    expect([error.code, error.errors]).toEqual(["VALIDATION_FAILED", [code]]);
  });

  test("is rejected with 400 for fields of the path, without the errors of the body", () => {
    const error = invalidMessage(updateAppointmentType, listViolations)([ofPath, code]);
    expect([error.code, error.errors]).toEqual(["INVALID_REQUEST", [ofPath]]);
  });

  test("uses the path of its own method", () => {
    expect(invalidMessage(updatePatient, listViolations)([ofPath]).code).toBe("VALIDATION_FAILED");
    expect(invalidMessage(updatePatient, listViolations)([{ ...ofPath, field: "patientId" }]).code).toBe(
      "INVALID_REQUEST",
    );
  });
});
