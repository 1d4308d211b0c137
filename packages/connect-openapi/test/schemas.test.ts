import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  CreateExhibitRequestSchema,
  ExhibitSchema,
  KindsSchema,
  MakerSchema,
  MuseumService,
} from "./gen/museum/v1/museum_pb.js";
import { ChoicesSchema, StringRulesSchema } from "./gen/museum/v1/rules_pb.js";
import { makeRoute } from "./support/make-route.js";
import { documentOf } from "./support/parsed-document.js";
import { ruleVerdict, schemasOf, schemaVerdict } from "./support/schemas-of.js";

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe("a field of each type", () => {
  const { properties } = schemasOf(KindsSchema)["Kinds"] ?? { properties: {} };

  test.each([
    ["id", { type: "string" }],
    ["aBool", { type: "boolean" }],
    ["aBytes", { type: "string", contentEncoding: "base64" }],
    ["aFloat", { type: "number", format: "float" }],
    ["aDouble", { type: "number", format: "double" }],
    ["aSint32", { type: "integer", format: "int32" }],
    ["aFixed32", { type: "integer", minimum: 0, maximum: 4_294_967_295 }],
    ["anInt64", { type: "string", pattern: "^-?[0-9]+$" }],
    ["aUint64", { type: "string", pattern: "^[0-9]+$" }],
    ["makers", { type: "object", additionalProperties: reference("Maker") }],
    [
      "byNumber",
      { type: "object", propertyNames: { pattern: "^-?[0-9]+$" }, additionalProperties: { type: "string" } },
    ],
    [
      "byBool",
      {
        type: "object",
        propertyNames: { enum: ["true", "false"] },
        additionalProperties: reference("ExhibitCondition"),
      },
    ],
    ["byUint64", { type: "object", propertyNames: { pattern: "^[0-9]+$" }, additionalProperties: { type: "string" } }],
    ["duration", { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?s$" }],
    [
      "any",
      {
        type: "object",
        properties: { "@type": { type: "string", description: "The URL of the message's type." } },
      },
    ],
    ["value", {}],
    ["listValue", { type: "array", items: {} }],
    ["nullValue", { type: "null" }],
    ["stringValue", { type: "string" }],
    ["int64Value", { type: "string", pattern: "^-?[0-9]+$" }],
    ["empty", { type: "object", additionalProperties: false }],
    ["secret", { type: "string", writeOnly: true }],
    ["one", { type: "string" }],
    ["other", { type: "string" }],
  ])("%s", (name, schema) => {
    expect(properties[name]).toEqual(schema);
  });

  test("has a row", () => {
    expect(Object.keys(properties)).toEqual(KindsSchema.fields.map(({ jsonName }) => jsonName));
  });

  test("has the annotations of its proto", () => {
    const exhibit = schemasOf(ExhibitSchema)["Exhibit"]?.properties;
    expect(exhibit?.["acquiredOn"]).toEqual({ type: "string", format: "date-time", readOnly: true });
    expect(exhibit?.["oldLabel"]).toEqual({ type: "string", deprecated: true });
  });
});

describe("the schema of a message", () => {
  test("in a request is closed, and requires what rules require", () => {
    const { additionalProperties, required } = schemasOf(ExhibitSchema, "request")["Exhibit"] ?? {};
    expect([additionalProperties, required]).toEqual([false, ["title"]]);
  });

  test("in a response is open, and requires what the server always writes", () => {
    const { additionalProperties, required } = schemasOf(ExhibitSchema, "response")["Exhibit"] ?? {};
    expect([additionalProperties, required]).toEqual([undefined, ["name", "title", "condition", "tags", "oldLabel"]]);
  });

  test("in an error is open, and requires what rules require", () => {
    const { additionalProperties, required } = schemasOf(ExhibitSchema, "error")["Exhibit"] ?? {};
    expect([additionalProperties, required]).toEqual([undefined, ["title"]]);
  });

  test("refers to itself if it contains itself", () => {
    expect(schemasOf(MakerSchema)["Maker"]?.properties["teacher"]).toEqual(reference("Maker"));
  });

  test("requires what the caller says", () => {
    const isRequired = ({ name }: { readonly name: string }) => (name === "title" ? false : undefined);
    expect(schemasOf(ExhibitSchema, "request", { isRequired })["Exhibit"]).not.toHaveProperty("required");
  });

  test("is what the caller makes of it", () => {
    const schemas = schemasOf(ExhibitSchema, "request", {
      schema: (definition, generated) => ({ ...generated, "x-kind": definition.kind }),
      enumValues: ({ values }) => values.filter(({ number }) => number !== 0),
    });
    expect(schemas["Exhibit"]).toMatchObject({ "x-kind": "message", properties: { name: { "x-kind": "field" } } });
    expect(schemas["ExhibitCondition"]).toEqual({ type: "string", enum: ["GOOD", "FRAGILE"], "x-kind": "enum" });
  });
});

describe("members of which only one may be present", () => {
  const [schema, rules] = [schemaVerdict(ChoicesSchema), ruleVerdict(ChoicesSchema)];
  const valid = { email: "a", card: "1" };

  test.each<[string, JsonValue]>([
    ["exactly one of a required oneof", valid],
    ["none of a oneof that is not required", { ...valid }],
    ["one of it", { ...valid, name: "red" }],
    ["a zero value, which rules of a choice ignore", { ...valid, last: 0 }],
  ])("are accepted: %s", (_, json) => {
    expect([schema(json), rules(json)]).toEqual([true, true]);
  });

  test.each<[string, JsonValue]>([
    ["none of a required oneof", { email: "a" }],
    ["none of a required choice", { card: "1" }],
    ["two of a required choice", { ...valid, phone: "1" }],
  ])("are rejected: %s", (_, json) => {
    expect([schema(json), rules(json)]).toEqual([false, false]);
  });

  test.each<[string, JsonValue]>([
    ["two of a required oneof", { ...valid, account: "1" }],
    ["two of a oneof of three", { ...valid, name: "red", sample: "1" }],
  ])("are rejected, which protobuf itself cannot parse: %s", (_, json) => {
    expect(schema(json)).toBe(false);
    expect(() => rules(json)).toThrow();
  });
});

test("a rule of a message, and a choice that only values show, are in its description", () => {
  expect(schemasOf(ChoicesSchema)["Choices"]?.description).toBe(
    [
      "Rule: first must come before last.",
      "Rule: `this.last < 100`.",
      "Rule: at most one of `first`, `last` must be set.",
    ].join("\n\n"),
  );
});

test("the caller says what stands for a rule without a keyword, or refuses it", () => {
  const untranslated = ({ id, reason }: { readonly id: string; readonly reason: string }) =>
    id === "string.letters" ? "" : reason === "PATTERN" ? `See ${id}.` : undefined;
  const { properties } = schemasOf(StringRulesSchema, "request", { untranslated })["StringRules"] ?? {};
  expect(properties?.["letters"]).toEqual({ type: "string", description: "See string.pattern." });
  expect(properties?.["maxBytes"]).toEqual({ type: "string", maxLength: 4 });
  const refuse = () => {
    throw new Error("refused");
  };
  expect(() => schemasOf(StringRulesSchema, "request", { untranslated: refuse })).toThrow("refused");
});

describe("the name of a schema", () => {
  const { method } = MuseumService;

  test("is short, and has the message's own name if only one direction has the message", () => {
    expect(Object.keys(schemasOf(CreateExhibitRequestSchema))).toEqual([
      "CreateExhibitRequest",
      "Exhibit",
      "ExhibitCondition",
      "Maker",
    ]);
  });

  test("shows the direction if both have the message", () => {
    const { schemas } = documentOf([makeRoute(method.createExhibit, "POST /v1/exhibits", { body: "*" })]).components;
    expect(Object.keys(schemas)).toEqual([
      "CreateExhibitRequest",
      "ExhibitInput",
      "ExhibitCondition",
      "MakerInput",
      "Exhibit",
      "Maker",
      "Problem",
      "Violation",
    ]);
    expect(schemas["ExhibitInput"]?.properties["maker"]).toEqual(reference("MakerInput"));
  });

  test("shows what is in the path if requests have the message in two forms", () => {
    const routes = [
      makeRoute(method.createExhibit, "POST /v1/exhibits", { body: "exhibit" }),
      makeRoute(method.renameExhibit, "PATCH /v1/{exhibit.name=exhibits/*}", { body: "exhibit" }),
    ];
    const { schemas } = documentOf(routes).components;
    expect(Object.keys(schemas["ExhibitInput"]?.properties ?? {})).toContain("name");
    expect(Object.keys(schemas["ExhibitInputWithoutName"]?.properties ?? {})).not.toContain("name");
  });

  test("is the full name of the definition if a component has the short one", () => {
    const { schemas } = documentOf([makeRoute(method.getExhibit, "GET /v1/{name}")], {
      components: { schemas: { Exhibit: { type: "string" }, Mine: reference("Exhibit") } },
    }).components;
    expect(Object.keys(schemas)).toEqual([
      "museum.v1.Exhibit",
      "ExhibitCondition",
      "Maker",
      "Problem",
      "Violation",
      "Exhibit",
      "Mine",
    ]);
  });

  test("is also in references that are no `$ref`", () => {
    const { schemas } = documentOf([makeRoute(method.getExhibit, "GET /v1/{name}")], {
      components: (refer) => {
        const { $ref = "" } = refer(MakerSchema, "response");
        return {
          schemas: { Mine: { oneOf: [{ $ref }], discriminator: { propertyName: "kind", mapping: { a: $ref } } } },
        };
      },
    }).components;
    expect(schemas["Mine"]).toMatchObject({ discriminator: { mapping: { a: "#/components/schemas/Maker" } } });
  });

  test("is the full name if two definitions have the same short one", () => {
    const copy: DescMessage = { ...MakerSchema, typeName: "gallery.v1.Maker", file: MakerSchema.file };
    const { schemas } = documentOf([makeRoute(method.getExhibit, "GET /v1/{name}")], {
      components: (refer) => ({ schemas: { Copy: refer(renamed(copy), "response") } }),
    }).components;
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(["museum.v1.Maker", "gallery.v1.Maker", "Copy"]));
    expect(schemas["Copy"]).toEqual(reference("gallery.v1.Maker"));
  });

  function renamed(message: DescMessage): DescMessage {
    const proto = { ...message.file.proto, package: "gallery.v1" };
    return { ...message, file: { ...message.file, proto } };
  }
});
