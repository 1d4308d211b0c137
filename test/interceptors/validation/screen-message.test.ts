import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  getOption,
  type MessageInitShape,
  ScalarType,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { FieldError } from "../../../src/errors.js";
import {
  CloseCaseRequestSchema,
  CloseWaitlistEntryRequestSchema,
} from "../../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { ShortText_Kind, screened, screened_as } from "../../../src/gen/cupo/options/v1/options_pb.js";
import { createScreening, hasLongText } from "../../../src/interceptors/validation/screen-message.js";
import { createListedValidator } from "./listed-validator.js";
import { messageOf, requestWith, UUID, validRequests } from "./valid-requests.js";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

const validate = createListedValidator();
const everything = "Dx: E11.9, clave: abc123, tarjeta 4111 1111 1111 1111";

describe("the screened texts of the contract", () => {
  test("are rejected with one error per kind of content, which does not repeat the text", () => {
    expect(validate(...requestWith("CreateCaseRequest", { description: everything }))).toEqual([
      { code: "CONTAINS_DIAGNOSIS", field: "description", message: "the text must not contain a diagnosis" },
      {
        code: "CONTAINS_CREDENTIAL",
        field: "description",
        message: "the text must not contain a password, key or other credential",
      },
      {
        code: "CONTAINS_FINANCIAL_DATA",
        field: "description",
        message: "the text must not contain the number of a card or an account or other financial data",
      },
    ]);
  });

  test.each([
    ["case", CloseCaseRequestSchema, { userAttentionCaseId: UUID, expectedVersion: 1 }],
    ["waitlist entry", CloseWaitlistEntryRequestSchema, { waitlistEntryId: UUID, expectedVersion: 1 }],
  ])("include the reason to close a %s", (_, schema, id) => {
    expect(broken(schema, { ...id, reason: "Se resolvió en el consultorio B12." })).toEqual([]);
    expect(broken(schema, { ...id, reason: "Dx: E11.9" })).toEqual(["reason CONTAINS_DIAGNOSIS"]);
  });

  test("are checked together with the other rules, in the order of the fields", () => {
    const description = "\u0007 clave: abc123";
    const [schema, message] = requestWith("CreateCaseRequest", {
      category: 9,
      description,
      patientId: "x",
    });
    expect(validate(schema, message).map(({ field, code }) => `${field} ${code}`)).toEqual([
      "category INVALID_VALUE",
      "description INVALID_FORMAT",
      "description CONTAINS_CREDENTIAL",
      "patientId INVALID_UUID",
    ]);
  });

  test("are not screened if they are too long", () => {
    const description = `${"x".repeat(4000)} clave: abc123`;
    const [schema, message] = requestWith("CreateCaseRequest", { description });
    expect(validate(schema, message).map(({ field, code }) => `${field} ${code}`)).toEqual(["description TOO_LONG"]);
  });

  test.each([
    ["RegisterPatientRequest", "fullName", ["DIAGNOSIS", "CREDENTIAL", "FINANCIAL_DATA"]],
    ["UpdatePatientRequest", "fullName", ["DIAGNOSIS", "CREDENTIAL", "FINANCIAL_DATA"]],
    ["RegisterPatientRequest", "phone", ["DIAGNOSIS", "CREDENTIAL", "FINANCIAL_DATA"]],
    ["UpdatePatientRequest", "phone", ["DIAGNOSIS", "CREDENTIAL", "FINANCIAL_DATA"]],
    ["CreateCaseRequest", "externalReference", ["DIAGNOSIS", "CREDENTIAL", "FINANCIAL_DATA"]],
    ["UpdateConsultationTypeRequest", "description", ["CREDENTIAL", "FINANCIAL_DATA"]],
    ["CreateAppointmentTypeRequest", "name", ["CREDENTIAL", "FINANCIAL_DATA"]],
    ["CreateHolidayRequest", "name", ["CREDENTIAL", "FINANCIAL_DATA"]],
    ["UpdateProgramRequest", "name", ["CREDENTIAL", "FINANCIAL_DATA"]],
    ["CreatePayerRequest", "code", ["CREDENTIAL", "FINANCIAL_DATA"]],
  ])("include short ones: %s.%s", (request, field, found) => {
    expect(namesOf(validate(...requestWith(request, { [field]: everything })))).toEqual(
      found.map((code) => `${field} CONTAINS_${code}`),
    );
  });

  test("are all texts of the published operations except ids, dates, times, emails and option tokens", () => {
    const isText = ({ fieldKind, scalar }: DescField) => fieldKind === "scalar" && scalar === ScalarType.STRING;
    const isMarked = (field: DescField) =>
      getOption(field, screened) || getOption(field, screened_as) !== ShortText_Kind.KIND_UNSPECIFIED;
    const others = validRequests.flatMap(({ schema }) =>
      schema.fields.filter((field) => isText(field) && !isMarked(field)).map(({ name }) => name),
    );
    expect(new Set(others.filter((name) => !/(?:^id|_id|date|_from|_to|_local)$/.test(name)))).toEqual(
      new Set(["email", "option_token"]),
    );
  });
});

describe("hasLongText", () => {
  test.each([
    ["CreateCaseRequest", true],
    ["UpdateConsultationTypeRequest", true],
    ["RegisterPatientRequest", false],
    ["CreatePayerRequest", false],
    ["CheckEligibilityRequest", false],
  ])("is true if a screened text may have more than 500 characters: %s %s", (request, isLong) => {
    expect(hasLongText(requestWith(request, {})[0])).toBe(isLong);
  });
});

describe("the screened texts of any message", () => {
  const schema = described([
    { ...text("word", 1), options: marked() },
    { ...text("words", 2), label: Label.REPEATED, options: marked() },
    text("free", 3),
    nested("child", 4, ".test.Note"),
    { ...nested("children", 5, ".test.Note"), label: Label.REPEATED },
    { ...nested("named", 6, ".test.Note.NamedEntry"), label: Label.REPEATED },
  ]);

  test("are found in lists, maps and nested messages", () => {
    const bad = { word: "Dx: E11.9", free: "Dx: E11.9" };
    const init = {
      words: ["bien", "Dx: E11.9"],
      child: { child: bad },
      children: [{ word: "bien" }, bad],
      named: { one: bad },
    };
    expect(broken(schema, init)).toEqual([
      "words[1] CONTAINS_DIAGNOSIS",
      "child.child.word CONTAINS_DIAGNOSIS",
      "children[1].word CONTAINS_DIAGNOSIS",
      'named["one"].word CONTAINS_DIAGNOSIS',
    ]);
  });

  test("are accepted if absent or empty", () => {
    expect(broken(schema, {})).toEqual([]);
    expect(broken(schema, { word: "", words: ["", "bien"], child: {} })).toEqual([]);
  });

  test("must be strings", () => {
    const faulty = described([{ ...text("count", 1), type: Type.INT32, options: marked() }]);
    expect(() => createScreening(faulty)).toThrow("is marked for screening, but is not a text");
  });
});

function broken(schema: DescMessage, members: Readonly<Record<string, unknown>>): string[] {
  return namesOf(validate(schema, messageOf(schema, members)));
}

function namesOf(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, code }) => `${field} ${code}`);
}

/** Returns the message `test.Note` with these fields, and a map entry that they may use. */
function described(fields: Field[]): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/note.proto",
    package: "test",
    syntax: "proto3",
    messageType: [
      {
        name: "Note",
        field: fields,
        nestedType: [
          {
            name: "NamedEntry",
            field: [text("key", 1), nested("value", 2, ".test.Note")],
            options: { mapEntry: true },
          },
        ],
      },
    ],
  });
  const schema = createFileRegistry(file, () => undefined).getMessage("test.Note");
  if (schema === undefined) throw new Error("the message is not described");
  return schema;
}

function text(name: string, number: number): Field {
  return { name, jsonName: name, number, type: Type.STRING, label: Label.OPTIONAL };
}

function nested(name: string, number: number, typeName: string): Field {
  return { name, jsonName: name, number, type: Type.MESSAGE, typeName, label: Label.OPTIONAL };
}

function marked() {
  const options = create(FieldOptionsSchema);
  setExtension(options, screened, true);
  return options;
}
