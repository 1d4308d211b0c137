import { create, createFileRegistry, type DescMessage, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import {
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  CloseUserAttentionCaseRequestSchema,
  CloseWaitlistEntryRequestSchema,
} from "../../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { screened } from "../../../src/gen/cupo/options/v1/options_pb.js";
import { screenMessage } from "../../../src/interceptors/validation/screen-message.js";
import { createListedValidator } from "./listed-validator.js";
import { messageOf, requestWith, UUID } from "./valid-requests.js";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

const validate = createListedValidator();
const everything = "Dx: E11.9, clave: abc123, tarjeta 4111 1111 1111 1111";

describe("the contract's screened texts", () => {
  test("are refused with one item for each thing they hold, which repeats nothing of it", () => {
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
    ["case", CloseUserAttentionCaseRequestSchema, { userAttentionCaseId: UUID, expectedVersion: 1 }],
    ["waitlist entry", CloseWaitlistEntryRequestSchema, { waitlistEntryId: UUID, expectedVersion: 1 }],
  ])("are the reasons to close a %s too", (_, schema, id) => {
    expect(broken(schema, { ...id, reason: "Se resolvió en el consultorio B12." })).toEqual([]);
    expect(broken(schema, { ...id, reason: "Dx: E11.9" })).toEqual(["reason CONTAINS_DIAGNOSIS"]);
  });

  test("are judged beside the other rules, in the order of the fields", () => {
    const description = "\u0007 clave: abc123";
    const [schema, message] = requestWith("CreateCaseRequest", { category: 9, description, patientId: "x" });
    expect(validate(schema, message).map(({ field, code }) => `${field} ${code}`)).toEqual([
      "category INVALID_VALUE",
      "description INVALID_FORMAT",
      "description CONTAINS_CREDENTIAL",
      "patientId INVALID_UUID",
    ]);
  });

  test("are not looked into where they are longer than they may be", () => {
    const description = `${"x".repeat(4000)} clave: abc123`;
    const [schema, message] = requestWith("CreateCaseRequest", { description });
    expect(validate(schema, message).map(({ field, code }) => `${field} ${code}`)).toEqual(["description TOO_LONG"]);
  });

  test("do not include the other texts", () => {
    expect(validate(...requestWith("CreateCaseRequest", { externalReference: everything }))).toEqual([]);
    expect(validate(...requestWith("UpdateConsultationTypeRequest", { description: everything }))).toEqual([]);
  });
});

describe("screened texts of any message", () => {
  const schema = described([
    { ...text("word", 1), options: marked() },
    { ...text("words", 2), label: Label.REPEATED, options: marked() },
    text("free", 3),
    nested("child", 4, ".test.Note"),
    { ...nested("children", 5, ".test.Note"), label: Label.REPEATED },
    { ...nested("named", 6, ".test.Note.NamedEntry"), label: Label.REPEATED },
  ]);

  test("are found in lists, in maps and in messages of messages", () => {
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

  test("pass where they are absent or hold nothing", () => {
    expect(broken(schema, {})).toEqual([]);
    expect(broken(schema, { word: "", words: ["", "bien"], child: {} })).toEqual([]);
  });

  test("must be texts", () => {
    const faulty = described([{ ...text("count", 1), type: Type.INT32, options: marked() }]);
    expect(() => screenMessage(faulty, create(faulty))).toThrow("is screened, but is no text");
  });
});

function broken(schema: DescMessage, members: Readonly<Record<string, unknown>>): string[] {
  return validate(schema, messageOf(schema, members)).map(({ field, code }) => `${field} ${code}`);
}

/** The message `test.Note` with these fields, and a map entry that they may name. */
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
