import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { AppointmentService } from "../src/gen/cupo/access/v1/appointment_service_pb.js";
import { PatientService } from "../src/gen/cupo/access/v1/patient_service_pb.js";
import { SchedulingConfigurationService } from "../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { hasSideEffects, operationName, operationOf, pathFields } from "../src/operation.js";
import { describeTreeService } from "./interceptors/described-service.js";

const { registerPatient, updatePatient } = PatientService.method;
const { rescheduleAppointment } = AppointmentService.method;
const { updateProgramRule } = SchedulingConfigurationService.method;

test("names an operation by service and method", () => {
  expect(operationName(registerPatient)).toBe("cupo.access.v1.PatientService/RegisterPatient");
});

test("reads what an operation requires and answers from its proto, always the same object", () => {
  expect(operationOf(registerPatient)).toMatchObject({
    scope: "patients:write",
    successStatus: 201,
    errorStatuses: [400, 401, 403, 409, 422, 429],
    preview: false,
  });
  expect(operationOf(updateProgramRule)).toMatchObject({
    scope: "configuration:write",
    successStatus: 200,
    errorStatuses: [400, 401, 403, 404, 409, 422, 429, 500],
    preview: true,
  });
  expect(operationOf(registerPatient)).toBe(operationOf(registerPatient));
});

test("refuses an operation that names no scope, so that none is open by mistake", () => {
  const { method } = describeTreeService();
  expect(() => operationOf(method)).toThrow("test.TreeService/Read has no cupo.options.v1.operation with a scope");
});

test.each<{ method: DescMethod; fields: string[] }>([
  { method: registerPatient, fields: [] },
  { method: updatePatient, fields: ["patient_id"] },
  { method: rescheduleAppointment, fields: ["appointment_id"] },
  { method: updateProgramRule, fields: ["program_id", "rule_id"] },
  { method: describeTreeService().method, fields: [] },
])("knows the fields of the path: $method.name has $fields", ({ method, fields }) => {
  expect([...pathFields(method)]).toEqual(fields);
});

test.each([
  { level: Level.IDEMPOTENCY_UNKNOWN, changes: true },
  { level: Level.IDEMPOTENT, changes: true },
  { level: Level.NO_SIDE_EFFECTS, changes: false },
])("takes a method for a read only where its proto says so: level $level", ({ level, changes }) => {
  expect(hasSideEffects({ ...registerPatient, idempotency: level })).toBe(changes);
});
