import type { DescMethod } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AppointmentService } from "../src/gen/cupo/access/v1/appointment_service_pb.js";
import { PatientService } from "../src/gen/cupo/access/v1/patient_service_pb.js";
import { SchedulingConfigurationService } from "../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { PatientDirectoryService } from "../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { operationName, operationOf, pathFields, takesIdempotencyKey } from "../src/operation.js";
import { describeTreeService } from "./interceptors/described-service.js";

const { registerPatient, updatePatient } = PatientService.method;
const { rescheduleAppointment } = AppointmentService.method;
const { updateProgramRule } = SchedulingConfigurationService.method;

test("names an operation by service and method", () => {
  expect(operationName(registerPatient)).toBe("cupo.access.v1.PatientService/RegisterPatient");
});

test("reads the options of an operation from its proto", () => {
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
});

test("rejects an operation without a scope, so that none is public by mistake", () => {
  const { method } = describeTreeService();
  expect(() => operationOf(method)).toThrow("test.TreeService/Read has no cupo.options.v1.operation with a scope");
});

test.each<{ method: DescMethod; fields: string[] }>([
  { method: registerPatient, fields: [] },
  { method: updatePatient, fields: ["patient_id"] },
  { method: rescheduleAppointment, fields: ["appointment_id"] },
  { method: updateProgramRule, fields: ["program_id", "rule_id"] },
  { method: describeTreeService().method, fields: [] },
])("returns the path fields: $method.name has $fields", ({ method, fields }) => {
  expect([...pathFields(method)]).toEqual(fields);
});

test.each([
  { method: registerPatient, takes: true },
  { method: PatientDirectoryService.method.getPatient, takes: false },
  { method: describeTreeService("trees:read").method, takes: true },
])("requires a key unless the proto says otherwise: $method.name, $takes", ({ method, takes }) => {
  expect(takesIdempotencyKey(method)).toBe(takes);
});
