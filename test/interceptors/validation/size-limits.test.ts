import { create, type DescMessage } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { RegisterPatientRequestSchema } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ReplaceProgramPractitionersRequestSchema } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { createMeasure } from "../../../src/interceptors/validation/measure-message.js";
import { areItemsJudged, maxItemsOf, sizeLimits } from "../../../src/interceptors/validation/size-limits.js";
import { messageValidatorOf } from "../../../src/interceptors/validation/validate-message.js";
import { generatedFiles } from "./generated-files.js";

const validate = messageValidatorOf;
const requests = (await generatedFiles()).flatMap(({ services }) =>
  services.flatMap(({ methods }) => methods.map(({ input }) => input)),
);

describe("the requests of the project", () => {
  it.each(distinct(requests))(
    "$name limits every list, and has no nested messages with sizes to limit",
    ({ fields }) => {
      const unlimited = fields.filter((field) => field.fieldKind === "list" && maxItemsOf(field) === undefined);
      const nested = fields
        .filter(areItemsJudged)
        .filter(
          ({ fieldKind, message }) =>
            fieldKind === "map" || (message && !hasCustomJsonRepresentation(message) && hasSizes(message)),
        );
      expect([...unlimited, ...nested].map(({ name }) => name)).toEqual([]);
    },
  );

  /** Whether a message has lists, messages or texts with a size limit. */
  function hasSizes(schema: DescMessage): boolean {
    const isFlat = schema.fields.every(({ fieldKind }) => fieldKind === "scalar" || fieldKind === "enum");
    return !isFlat || sizeLimits(schema).length > 0;
  }

  it("have the limits that their rules state, for any kind of rule", () => {
    const limits = requests.flatMap(sizeLimits).map(({ field, limit }) => `${field.toString()} ${limit}`);
    expect(limits).toEqual(
      expect.arrayContaining([
        "field cupo.access.v1.RegisterPatientRequest.document_type 32",
        "field cupo.access.v1.RegisterPatientRequest.document_number 32",
        "field cupo.access.v1.RegisterPatientRequest.full_name 200",
        "field cupo.access.v1.RegisterPatientRequest.phone 64",
        "field cupo.access.v1.RegisterPatientRequest.email 254",
        "field cupo.access.v1.CreateCaseRequest.description 4000",
        "field cupo.access.v1.UpdateProgramRuleRequest.holiday_dates 500",
        "field cupo.access.v1.UpdateProgramRuleRequest.weekdays 7",
      ]),
    );
  });
});

describe("a message", () => {
  it("is returned itself if everything is within the limits", () => {
    const message = create(ReplaceProgramPractitionersRequestSchema, { practitionerIds: Array(500).fill("x") });
    const measured = createMeasure(ReplaceProgramPractitionersRequestSchema)(message);
    expect(measured.message).toBe(message);
    expect(measured.tooLarge).toEqual([]);
  });

  it("is not changed; its copy without the oversized fields is validated", () => {
    const init = { programId: "x", expectedVersion: 0, practitionerIds: Array(501).fill("x") };
    const message = create(ReplaceProgramPractitionersRequestSchema, init);
    const measured = createMeasure(ReplaceProgramPractitionersRequestSchema)(message);
    expect(message.practitionerIds).toHaveLength(501);
    expect(measured.message).toEqual(
      create(ReplaceProgramPractitionersRequestSchema, { programId: "x", expectedVersion: 0 }),
    );
    expect(measured.tooLarge.map(({ field, limit }) => [field.name, limit])).toEqual([["practitioner_ids", 500]]);
  });

  it.each([
    ["letters", "x", 200, false],
    ["letters", "x", 201, true],
    ["the last characters of the basic plane", "\uffff", 201, true],
    ["characters of two code units", "𝒳", 200, false],
    ["characters of two code units", "𝒳", 201, true],
  ])(
    "has a text that is too large if it has more characters than allowed: %s %s × %i",
    (_, text, count, isTooLarge) => {
      const message = create(RegisterPatientRequestSchema, { fullName: text.repeat(count) });
      const { tooLarge } = createMeasure(RegisterPatientRequestSchema)(message);
      expect(tooLarge.map(({ field }) => field.name)).toEqual(isTooLarge ? ["full_name"] : []);
    },
  );

  it("is validated without reading any item of an oversized list", () => {
    const read: PropertyKey[] = [];
    const message = create(ReplaceProgramPractitionersRequestSchema, { programId: "x" });
    message.practitionerIds = new Proxy(
      Array.from({ length: 42_000 }, () => "x"),
      {
        get(list, key, receiver): unknown {
          read.push(key);
          return Reflect.get(list, key, receiver);
        },
      },
    );
    expect(validate(ReplaceProgramPractitionersRequestSchema)(message)).toHaveLength(3);
    expect(new Set(read)).toEqual(new Set(["length"]));
  });
});

function distinct(messages: readonly DescMessage[]): DescMessage[] {
  return [...new Set(messages)];
}
