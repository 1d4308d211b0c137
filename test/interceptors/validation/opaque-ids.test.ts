import type { DescMethodUnary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CatalogService } from "../../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { isOpaqueId } from "../../../src/interceptors/validation/opaque-ids.js";

test.each<[string, DescMethodUnary, string, boolean]>([
  ["an id without a rule", PatientService.method.updatePatient, "patientId", true],
  ["an id that must be a UUID", CatalogService.method.updateAppointmentType, "id", false],
  ["a number without a rule", CatalogService.method.updateAppointmentType, "active", false],
])("a path field accepts any text only as an id without a rule: %s", (_, { input }, name, isOpaque) => {
  const field = input.fields.find(({ jsonName }) => jsonName === name);
  expect(field && isOpaqueId(field)).toBe(isOpaque);
});
