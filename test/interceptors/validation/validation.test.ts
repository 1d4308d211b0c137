import { describe, expect, test } from "vitest";
import type { FieldError } from "../../../src/errors.js";
import { CatalogService } from "../../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { invalidMessage, validation } from "../../../src/interceptors/validation/validation.js";
import { listViolations } from "../../../src/rest/violations/list-violations.js";
import { refusal, requestOf, run } from "../run-interceptor.js";

const { updateAppointmentType } = CatalogService.method;
const { updatePatient } = PatientService.method;
const id = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a";
const name: FieldError = { code: "TOO_LONG", field: "name", message: "too long" };
const code: FieldError = { code: "REQUIRED", field: "code", message: "missing" };
const ofPath: FieldError = { code: "INVALID_UUID", field: "id", message: "no UUID" };

describe("a request", () => {
  test("that breaks no rule reaches the next stage in its one form", async () => {
    const request = requestOf(updateAppointmentType, { id: id.toUpperCase(), code: "A" });
    const { passed } = await run(
      validation(() => [], listViolations),
      request,
    );
    expect(passed.map(({ message }) => message)).toEqual([
      expect.objectContaining({ id, code: "A", updateMask: expect.objectContaining({ paths: ["code"] }) }),
    ]);
  });

  test("is judged by the schema of its method", async () => {
    const seen: unknown[] = [];
    const request = requestOf(updateAppointmentType, { id });
    await run(
      validation((schema, message) => {
        seen.push(schema, message);
        return [];
      }, listViolations),
      request,
    );
    expect(seen).toEqual([updateAppointmentType.input, request.message]);
  });

  test("that breaks rules is refused with 422 and every item", async () => {
    const error = await refusal(
      run(
        validation(() => [code, name], listViolations),
        requestOf(updateAppointmentType, { id }),
      ),
    );
    expect([error.code, error.errors]).toEqual(["VALIDATION_FAILED", [code, name]]);
  });

  test("is refused for its update mask too, in the order of the fields", async () => {
    const request = requestOf(updateAppointmentType, { id, updateMask: { paths: ["colour", "active"] } });
    const error = await refusal(
      run(
        validation(() => [name], listViolations),
        request,
      ),
    );
    expect(error.errors.map(({ field, code: what }) => `${field} ${what}`)).toEqual([
      "name TOO_LONG",
      "active REQUIRED",
      "updateMask INVALID_VALUE",
    ]);
  });

  test("has a field named once where rule and mask both find it missing", async () => {
    const request = requestOf(updatePatient, { patientId: id, updateMask: { paths: ["full_name"] } });
    const missing: FieldError = { code: "REQUIRED", field: "fullName", message: "missing" };
    const error = await refusal(
      run(
        validation(() => [missing], listViolations),
        request,
      ),
    );
    expect(error.errors).toEqual([missing]);
  });
});

describe("a message that breaks rules", () => {
  test("is a wrong body: 422", () => {
    const error = invalidMessage(updateAppointmentType, [code], listViolations);
    expect([error.code, error.errors]).toEqual(["VALIDATION_FAILED", [code]]);
  });

  test("is a wrong address where a field of the path does: 400, without the items of the body", () => {
    const error = invalidMessage(updateAppointmentType, [ofPath, code], listViolations);
    expect([error.code, error.errors]).toEqual(["INVALID_REQUEST", [ofPath]]);
  });

  test("is judged by the path of its own method", () => {
    expect(invalidMessage(updatePatient, [ofPath], listViolations).code).toBe("VALIDATION_FAILED");
    expect(invalidMessage(updatePatient, [{ ...ofPath, field: "patientId" }], listViolations).code).toBe(
      "INVALID_REQUEST",
    );
  });
});
