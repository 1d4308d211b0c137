import { create, createRegistry, type DescMessage, type JsonObject, toJson } from "@bufbuild/protobuf";
import { FieldOptionsSchema } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  RegisterPatientRequestSchema,
  UpdatePatientRequestSchema,
} from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { file_cupo_options_v1_options } from "../../src/gen/cupo/options/v1/options_pb.js";
import { file_cupo_options_v1_rules } from "../../src/gen/cupo/options/v1/rules_pb.js";
import { patientOf, registerPatient, registration } from "../support/registration.js";
import { shareTestService, type TestService } from "../support/service.js";

/** New values of the attributes that an update can change. */
const OTHERS: Readonly<Record<string, string>> = {
  fullName: "Ana María Pérez de López",
  phone: "601 555 0199",
  email: "ana.lopez@example.com",
};

const NOT_ATTRIBUTES = new Set(["patientId", "expectedVersion", "updateMask"]);

const registry = createRegistry(file_buf_validate_validate, file_cupo_options_v1_options, file_cupo_options_v1_rules);

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("the registration of the tests has every member", () => {
  expect(Object.keys(registration()).toSorted()).toEqual(membersOf(RegisterPatientRequestSchema));
});

test("each member of an update changes the attribute of its name and no other", async () => {
  const members = membersOf(UpdatePatientRequestSchema).filter((name) => !NOT_ATTRIBUTES.has(name));
  expect(Object.keys(OTHERS).toSorted()).toEqual(members);
  const { fullName, phone } = OTHERS;
  const required = { fullName, phone };
  for (const member of members) {
    const patient = await registerPatient(service);
    const body = { ...required, [member]: OTHERS[member], expectedVersion: 1 };
    const updated = patientOf(await service.request("PATCH", `/patients/${patient.id}`, { body }));
    expect(updated).toEqual({ ...patient, ...required, [member]: OTHERS[member], version: 2 });
  }
});

test("patient texts with the same format are screened for the same content", () => {
  const screenings = [RegisterPatientRequestSchema, UpdatePatientRequestSchema].flatMap(screeningsOf);
  expect(screenings.length).toBeGreaterThan(5);
  for (const { form } of screenings) {
    const alike = screenings.filter((other) => other.form === form);
    const [first] = alike;
    expect(alike.filter(({ screenedFor }) => screenedFor !== first?.screenedFor)).toEqual([]);
  }
});

function membersOf(schema: DescMessage): string[] {
  return schema.fields.map(({ jsonName }) => jsonName).toSorted();
}

/** Returns the texts of a message, each with the names of its format rules and its screening options. */
function screeningsOf(schema: DescMessage) {
  return schema.fields.flatMap(({ jsonName, proto }) => {
    const options = toJson(FieldOptionsSchema, proto.options ?? create(FieldOptionsSchema), { registry }) as JsonObject;
    const rules = (options["[buf.validate.field]"] as JsonObject | undefined)?.["string"] as JsonObject | undefined;
    const form = Object.keys(rules ?? {})
      .toSorted()
      .join();
    const screening = Object.entries(options).filter(([name]) => name.startsWith("[cupo.options.v1.screened"));
    return form === "" ? [] : [{ jsonName, form, screenedFor: JSON.stringify(screening) }];
  });
}
