import { create, createFileRegistry, type DescMessage, type MessageInitShape, setExtension } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  MessageOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  FieldRulesSchema,
  field as fieldOption,
  MessageRulesSchema,
  message as messageOption,
  type RuleSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, it } from "vitest";
import { createListedValidator } from "./listed-validator.js";
import { messageOf, UUID } from "./valid-requests.js";

type Rules = MessageInitShape<typeof FieldRulesSchema>;

const validate = createListedValidator();
const uuid: Rules = { type: { case: "string", value: { wellKnown: { case: "uuid", value: true } } } };
const unique: Rules = { type: { case: "repeated", value: { unique: true } } };

describe("paths", () => {
  const outer = made(
    withMap(
      message("Outer", [
        list("many_inner", "Inner"),
        single("one_inner", "Inner"),
        field("last", uuid),
        list("named_inner", "Outer.NamedInnerEntry"),
      ]),
      message("NamedInnerEntry", [field("key", {}), single("value", "Inner")]),
    ),
    message("Inner", [
      field("some_id", uuid),
      { ...field("words", unique), label: FieldDescriptorProto_Label.REPEATED },
    ]),
  );

  it("point into nested messages and lists, in the order of the fields", () => {
    const inner = { someId: "x", words: ["a", "b", "a"] };
    const init = { last: "x", oneInner: inner, manyInner: [{ someId: "x" }, inner] };
    expect(validate(outer, messageOf(outer, init)).map((error) => error.field)).toEqual([
      "manyInner[0].someId",
      "manyInner[1].someId",
      "manyInner[1].words[2]",
      "oneInner.someId",
      "oneInner.words[2]",
      "last",
    ]);
  });

  it("point into maps by their keys", () => {
    const init = { namedInner: { a: { someId: "x" }, 'b"': { someId: UUID, words: ["a", "a"] } }, last: UUID };
    const fields = validate(outer, messageOf(outer, init)).map((error) => error.field);
    expect(fields).toEqual(['namedInner["a"].someId', 'namedInner["b\\""].words[1]']);
  });
});

describe("invalid rules", () => {
  it.each([
    ["cannot be compiled", { id: "string.uuid", expression: "this ==" }, "failed to compile string.uuid"],
    ["fails at run time", { id: "string.uuid", expression: "1 / 0 == 1" }, "divide by zero"],
    ["returns neither a boolean nor a text", { id: "string.uuid", expression: "1" }, "wanted either bool or string"],
    [
      "has no code",
      { id: "string.unheard_of", expression: "false" },
      "string.unheard_of has no field-level error code",
    ],
    ["is for lists", { id: "repeated.unique", expression: "false" }, "is on text, which is not a list"],
    ["compares fields", { id: "date_range", expression: "false" }, "has no message at text"],
  ])("throws for a rule that %s", (_, rule, expected) => {
    const schema = made(message("Faulty", [field("text", { cel: [rule] })]));
    const value = messageOf(schema, { text: "x" });
    expect(() => validate(schema, value)).toThrow(expected);
  });
});

describe("rules on a message", () => {
  const ranged = (id: string) => made(ruled({ id, expression: "false" }, message("Range", [field("date_from", {})])));

  it.each([
    ["that the message does not have", "date_range", "made.up.Range has no field date_to"],
    ["with a limit, which only a field can have", "string.max_len", "the violation names no field"],
  ])("throw if they name a field %s", (_, id, expected) => {
    const schema = ranged(id);
    expect(() => validate(schema, messageOf(schema, {}))).toThrow(expected);
  });
});

function ruled(rule: MessageInitShape<typeof RuleSchema>, type: DescriptorProto): DescriptorProto {
  const options = create(MessageOptionsSchema);
  setExtension(options, messageOption, create(MessageRulesSchema, { cel: [rule] }));
  return { ...type, options };
}

function made(...messageType: [DescriptorProto, ...DescriptorProto[]]): DescMessage {
  const file = create(FileDescriptorProtoSchema, {
    name: "rangedup.proto",
    package: "made.up",
    syntax: "proto3",
    messageType,
  });
  file.messageType.forEach(({ field: fields }) => {
    fields.forEach((each, index) => {
      each.number = index + 1;
      each.jsonName = each.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    });
  });
  const schema = createFileRegistry(file, () => undefined).getMessage(`made.up.${messageType[0].name}`);
  if (schema === undefined) throw new Error("the message was not made");
  return schema;
}

function message(name: string, fields: readonly FieldDescriptorProto[]): DescriptorProto {
  return create(DescriptorProtoSchema, { name, field: [...fields] });
}

function withMap(type: DescriptorProto, entry: DescriptorProto): DescriptorProto {
  entry.field.forEach((each, index) => {
    each.number = index + 1;
    each.jsonName = each.name;
  });
  entry.options = create(MessageOptionsSchema, { mapEntry: true });
  return { ...type, nestedType: [entry] };
}

function field(name: string, rules: Rules): FieldDescriptorProto {
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldOption, create<typeof FieldRulesSchema>(FieldRulesSchema, rules));
  const { STRING } = FieldDescriptorProto_Type;
  return create(FieldDescriptorProtoSchema, {
    name,
    type: STRING,
    label: FieldDescriptorProto_Label.OPTIONAL,
    options,
  });
}

function single(name: string, type: string): FieldDescriptorProto {
  return create(FieldDescriptorProtoSchema, {
    name,
    type: FieldDescriptorProto_Type.MESSAGE,
    typeName: `.made.up.${type}`,
    label: FieldDescriptorProto_Label.OPTIONAL,
  });
}

function list(name: string, type: string): FieldDescriptorProto {
  return { ...single(name, type), label: FieldDescriptorProto_Label.REPEATED };
}
