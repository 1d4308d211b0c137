import { expect, test } from "vitest";
import { PatientDetails_Status as Status } from "../../src/gen/cupo/clinic/v1/patient_details_pb.js";
import { nameIn, valueNamed } from "../../src/services/resources/enum-names.js";

test("a value of an enum is stored by its name and read back", () => {
  expect(nameIn(Status, Status.ACTIVE)).toBe("ACTIVE");
  expect(valueNamed(Status, "ACTIVE")).toBe(Status.ACTIVE);
});

test.each([Status.STATUS_UNSPECIFIED, 99])("the value %i, which validation excludes, is not stored", (value) => {
  expect(() => nameIn(Status, value)).toThrow("not validated");
});

test.each(["RETIRED", "1"])("the stored name %s, which the contract does not have, is not read", (name) => {
  expect(() => valueNamed(Status, name)).toThrow("not a value of the enum");
});
