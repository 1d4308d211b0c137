import { type DescMethodUnary, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CatalogService } from "../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { shownPatientsOf } from "../../src/interceptors/shown-patients.js";

const { mergePatients, listPatients } = PatientDirectoryService.method;
const { closeCase } = DeskService.method;
const { registerPatient } = PatientService.method;
const { createCancellationReason } = CatalogService.method;

test.each<[string, DescMethodUnary, JsonObject, readonly string[], readonly string[]]>([
  ["its patient", registerPatient, { patient: { id: "a" } }, ["a"], []],
  [
    "both patients of a merge",
    mergePatients,
    { survivor: { patientId: "a" }, duplicate: { patientId: "b" } },
    ["a", "b"],
    [],
  ],
  ["one of two patients", mergePatients, { duplicate: { patientId: "b" } }, ["b"], []],
  ["the patient of a case", closeCase, { userAttentionCase: { patientId: "a" } }, ["a"], []],
  [
    "the patient of a case, not of its appointment",
    closeCase,
    { userAttentionCase: { patientId: "a", appointmentId: "x" } },
    ["a"],
    [],
  ],
  ["the appointment of a case without patient", closeCase, { userAttentionCase: { appointmentId: "x" } }, [], ["x"]],
  ["nobody, for a case of neither", closeCase, { userAttentionCase: { description: "d" } }, [], []],
  ["nobody, without a patient", registerPatient, {}, [], []],
  ["nobody, in a list", listPatients, { patients: [{ patientId: "a" }] }, [], []],
  ["nobody, in a reason", createCancellationReason, { cancellationReason: { code: "A" } }, [], []],
])("a stored response shows %s", (_, { output }, response, patientIds, appointmentIds) => {
  const stored = toBinary(output, fromJson(output, response));
  expect(shownPatientsOf(output)(stored)).toEqual({ patientIds, appointmentIds });
});
