import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { CatalogService } from "../../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { SchedulingConfigurationService } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { SeriesService } from "../../../src/gen/cupo/clinic/v1/series_service_pb.js";
import { TenantSettingsService } from "../../../src/gen/cupo/clinic/v1/tenant_settings_service_pb.js";
import { createNormalizer } from "../../../src/interceptors/validation/normalize-request.js";

const { createPayer, updateAppointmentType } = CatalogService.method;
const { bookTogether } = SeriesService.method;
const { updateTenantSettings } = TenantSettingsService.method;
const { updatePatient, registerPatient } = PatientService.method;
const { updateProgramRule, replaceProgramPractitioners } = SchedulingConfigurationService.method;

const lower = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a";
const upper = lower.toUpperCase();

describe("UUIDs", () => {
  test("become lower case, in path and body", () => {
    const { message, errors } = normalized(updateAppointmentType, { id: upper, opportunityDefinitionId: upper });
    expect(errors).toEqual([]);
    expect(message).toMatchObject({ id: lower, opportunityDefinitionId: lower });
  });

  test("become lower case in lists, in the same order", () => {
    const other = "ABCDEF00-0000-4000-8000-000000000000";
    const { message } = normalized(replaceProgramPractitioners, { programId: upper, practitionerIds: [upper, other] });
    expect(message).toMatchObject({ programId: lower, practitionerIds: [lower, other.toLowerCase()] });
  });

  test("become lower case in nested messages and in lists of them", () => {
    const visits = [{ patientId: upper, appointmentTypeId: upper, durationMinutes: 30 }, { patientId: lower }];
    const { message } = normalized(bookTogether, { programId: upper, visits });
    expect(message).toMatchObject({
      programId: lower,
      visits: [{ patientId: lower, appointmentTypeId: lower, durationMinutes: 30 }, { patientId: lower }],
    });
    expect(message.visits[1]?.appointmentTypeId).toBeUndefined();
  });

  test("stay absent if absent", () => {
    const { message } = normalized(updateAppointmentType, { id: lower });
    expect(message.opportunityDefinitionId).toBeUndefined();
  });

  test("become lower case even in opaque ids, so that a replay is recognized", () => {
    expect(normalized(updatePatient, { patientId: upper }).message.patientId).toBe(lower);
  });

  test("are the only values that change; texts stay as they are", () => {
    expect(normalized(updateAppointmentType, { code: upper, name: "Primera Vez" }).message).toMatchObject({
      code: upper,
      name: "Primera Vez",
    });
    expect(normalized(registerPatient, { documentNumber: "AB-1" }).message.documentNumber).toBe("AB-1");
    expect(normalized(createPayer, { taxId: "NIT 900-A" }).message.taxId).toBe("NIT 900-A");
  });
});

describe("an update mask", () => {
  test("names every set attribute if absent, in the order of the proto", () => {
    expect(maskOf({ active: false, code: "A", durationMinutes: 0, name: "" })).toEqual({
      paths: ["code", "name", "duration_minutes", "active"],
      errors: [],
    });
  });

  test("names nothing if absent and only the version and path ids are set", () => {
    expect(maskOf({ id: lower, expectedVersion: 3 })).toEqual({ paths: [], errors: [] });
  });

  test("names nothing if empty, whatever is set", () => {
    expect(maskOf({ code: "A", updateMask: { paths: [] } })).toEqual({ paths: [], errors: [] });
  });

  test("removes attributes that are set but not named", () => {
    expect(maskOf({ code: "A", name: "B", updateMask: { paths: ["name"] } })).toEqual({ paths: ["name"], errors: [] });
  });

  test("is sorted in the order of the proto, without duplicates", () => {
    const paths = ["active", "code", "active", "code"];
    expect(maskOf({ active: true, code: "A", updateMask: { paths } })).toEqual({
      paths: ["code", "active"],
      errors: [],
    });
  });

  test("may name expected_version, which is not an attribute", () => {
    const updateMask = { paths: ["expected_version", "code"] };
    expect(maskOf({ code: "A", expectedVersion: 1, updateMask })).toEqual({ paths: ["code"], errors: [] });
  });

  test.each(["colour", "id", "update_mask", "durationMinutes", "code.length", "*", ""])(
    "must not name anything else: %s",
    (path) => {
      const { errors } = maskOf({ id: lower, code: "A", durationMinutes: 5, updateMask: { paths: ["code", path] } });
      expect(errors).toEqual([
        {
          code: "INVALID_VALUE",
          field: "updateMask",
          message: "the mask may name code, name, duration_minutes, opportunity_definition_id, active",
        },
      ]);
    },
  );

  test("must not name attributes that are not set; each is reported", () => {
    const { errors } = maskOf({ code: "A", updateMask: { paths: ["duration_minutes", "code", "active"] } });
    const message = "the update mask names this field, so it must have a value";
    expect(errors).toEqual([
      { code: "REQUIRED", field: "durationMinutes", message },
      { code: "REQUIRED", field: "active", message },
    ]);
  });

  test("may name an empty list, to clear it", () => {
    const updateMask = { paths: ["holiday_dates", "weekdays"] };
    const { message, errors } = normalized(updateProgramRule, { weekdays: [1], updateMask });
    expect(errors).toEqual([]);
    expect(message.updateMask?.paths).toEqual(["weekdays", "holiday_dates"]);
  });

  test("does not name an empty list if absent", () => {
    const { message } = normalized(updateProgramRule, { weekdays: [1], holidayDates: [] });
    expect(message.updateMask?.paths).toEqual(["weekdays"]);
  });

  test("never names ids of the path", () => {
    const { message } = normalized(updateProgramRule, { programId: lower, ruleId: lower, dailyCapacity: 3 });
    expect(message.updateMask?.paths).toEqual(["daily_capacity"]);
  });

  test("is created even if the request has no ids", () => {
    const { message } = normalized(updateTenantSettings, { expectedVersion: 1, freedSlotOfferMinutes: 5 });
    expect(message.updateMask?.paths).toEqual(["freed_slot_offer_minutes"]);
  });

  test("is not created for a method without one", () => {
    const { message } = normalized(replaceProgramPractitioners, { practitionerIds: [lower] });
    expect(message).toEqual(create(replaceProgramPractitioners.input, { practitionerIds: [lower] }));
  });
});

test("equivalent requests become equal", () => {
  const sent = { id: upper, code: "A", active: true, expectedVersion: 1 };
  const first = normalized(updateAppointmentType, { ...sent, updateMask: { paths: ["active", "code", "code"] } });
  const second = normalized(updateAppointmentType, { ...sent, id: lower });
  expect(first.message).toEqual(second.message);
});

function normalized<I extends DescMessage>(method: DescMethodUnary<I>, init: MessageInitShape<I>) {
  const message = create(method.input, init);
  const errors = createNormalizer(method)(message);
  return { message, errors };
}

function maskOf(init: MessageInitShape<typeof updateAppointmentType.input>) {
  const { message, errors } = normalized(updateAppointmentType, init);
  return { paths: message.updateMask?.paths, errors };
}
