import { create, equals, fromJsonString, toJson } from "@bufbuild/protobuf";
import { AnySchema, anyPack, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { fieldsOf } from "../../src/json/message-fields.js";
import { readJson } from "../../src/json/read-json.js";
import { createMessageReader } from "../../src/json/read-message.js";
import { createMessageWriter } from "../../src/json/write-message.js";
import { noViolations } from "../../src/violations/collect-violations.js";
import { listViolations } from "../../src/violations/list-violations.js";
import { EnvelopeSchema } from "../gen/library/v1/media_pb.js";
import { call } from "../support/call-handler.js";
import { mediaOptions, registry } from "../support/media-service.js";

const url = (name: string) => `type.googleapis.com/${name}`;
const book = `{"@type":"${url("library.v1.Book")}","title":"x"}`;
const duration = `{"@type":"${url("google.protobuf.Duration")}","value":"1.500s"}`;

describe("an Any is read", () => {
  test.each([
    [`{"content":${book}}`],
    [`{"content":{"title":"x","@type":"${url("library.v1.Book")}"}}`],
    [`{"content":${duration}}`],
    [`{"content":{"@type":"${url("google.protobuf.Int32Value")}","value":7}}`],
    [`{"content":{"@type":"${url("google.protobuf.Timestamp")}","value":"2026-01-31T08:00:00Z"}}`],
    [`{"content":{"value":{"a":[1,null]},"@type":"${url("google.protobuf.Struct")}"}}`],
    [`{"content":{"@type":"${url("google.protobuf.Value")}","value":null}}`],
    [`{"content":{"@type":"${url("google.protobuf.Empty")}"}}`],
    [`{"content":{"@type":"${url("google.protobuf.Any")}","value":${book}}}`],
    [`{"content":{"@type":"${url("library.v1.Envelope")}","content":${book},"items":[${duration}]}}`],
    [`{"items":[${book},{},${duration}],"byName":{"a":${book}}}`],
    [`{"anyChoice":${book}}`],
    ["{}"],
    ['{"content":{}}'],
  ])("as protobuf-es reads it: %s", (text) => {
    const { message, violations } = read(text);
    expect(violations).toEqual([]);
    expect(equals(EnvelopeSchema, message, fromJsonString(EnvelopeSchema, text, { registry }))).toBe(true);
  });
});

test("the URL of a type may have any beginning, which is kept", () => {
  const typeUrl = "https://example.com/types/library.v1.Book";
  expect(read(`{"content":{"@type":"${typeUrl}"}}`).message.content?.typeUrl).toBe(typeUrl);
});

describe("an Any is rejected", () => {
  const knownType = "the value must be the URL of a known type";
  test.each([
    ["that is no object", '{"content":"x"}', "INVALID_TYPE content"],
    ["without a type", '{"content":{"title":"x"}}', "REQUIRED content.@type", "the value is required"],
    ["of an unknown type", `{"content":{"@type":"${url("nope.Nope")}"}}`, "INVALID_VALUE content.@type", knownType],
    ["whose type is no URL", '{"content":{"@type":"library.v1.Book"}}', "INVALID_VALUE content.@type", knownType],
    ["whose type is empty", '{"content":{"@type":"","value":""}}', "INVALID_VALUE content.@type", knownType],
    ["whose type is no text", '{"content":{"@type":{}}}', "INVALID_VALUE content.@type", knownType],
    ["with an unknown member", `{"content":{"@type":"${url("library.v1.Book")}","a":1}}`, "UNKNOWN_FIELD content.a"],
    [
      "with an invalid member, whatever its depth",
      `{"items":[{"@type":"${url("library.v1.Book")}","pages":"x","author":{"addresses":[{"city":1}]}}]}`,
      "INVALID_TYPE items[0].author.addresses[0].city, INVALID_TYPE items[0].pages",
    ],
    ["without a value", `{"content":{"@type":"${url("google.protobuf.Duration")}"}}`, "REQUIRED content.value"],
    [
      "with an invalid value",
      `{"content":{"@type":"${url("google.protobuf.Duration")}","value":"1"}}`,
      "INVALID_FORMAT content.value",
    ],
    [
      "with a member besides its value",
      `{"content":{"@type":"${url("google.protobuf.Duration")}","value":"1s","a":1}}`,
      "UNKNOWN_FIELD content.a",
    ],
    [
      "that is invalid in another one",
      `{"content":{"@type":"${url("google.protobuf.Any")}","value":{"@type":"x/y"}}}`,
      "INVALID_VALUE content.value.@type",
      knownType,
    ],
  ])("%s", (_, text, expected, message = "") => {
    const { violations } = read(text);
    expect(violations.map(({ code, field }) => `${code} ${field}`).join(", ")).toBe(expected);
    expect(violations[0]?.message).toContain(message);
  });

  test("if there is no registry", () => {
    expect(read(`{"content":${book}}`, false).violations).toMatchObject([{ code: "INVALID_VALUE", field: "content" }]);
  });
});

describe("an Any is written", () => {
  const write = createMessageWriter(EnvelopeSchema, { registry });

  test.each([
    [`{"content":${book}}`],
    [`{"items":[${duration},{},{"@type":"${url("google.protobuf.Empty")}"}],"byName":{"a":${book}}}`],
    [`{"anyChoice":{"@type":"${url("google.protobuf.Any")}","value":${book}}}`],
    [`{"content":{"@type":"${url("google.protobuf.Struct")}","value":{"a":null}}}`],
  ])("as protobuf-es writes it: %s", (text) => {
    const message = fromJsonString(EnvelopeSchema, text, { registry });
    const expected = toJson(EnvelopeSchema, message, { registry, alwaysEmitImplicit: true });
    expect(JSON.parse(write(message))).toEqual(expected);
  });

  test("with the profile's Timestamps, also in the members of its content", () => {
    const at = create(TimestampSchema, { seconds: 0n, nanos: 1 });
    const written = write(create(EnvelopeSchema, { content: anyPack(TimestampSchema, at) }));
    expect(JSON.parse(written)).toMatchObject({ content: { value: "1970-01-01T00:00:00.000Z" } });
  });

  test("fails for a type that is not in the registry", () => {
    const content = create(AnySchema, { typeUrl: url("nope.Nope") });
    expect(() => write(create(EnvelopeSchema, { content }))).toThrow(
      "the registry has no type for the URL type.googleapis.com/nope.Nope of a google.protobuf.Any",
    );
  });
});

test("a handler with a registry serves methods whose messages have an Any", async () => {
  const { status, text } = await call(mediaOptions, "POST", "/v1/envelopes", { body: `{"content":${duration}}` });
  expect([status, JSON.parse(text)]).toEqual([200, { content: JSON.parse(duration), items: [], byName: {} }]);
  expect((await call(mediaOptions, "POST", "/v1/envelopes", { body: '{"content":{"a":1}}' })).status).toBe(400);
});

function read(text: string, withRegistry = true) {
  const message = create(EnvelopeSchema);
  const violations = noViolations();
  const reader = createMessageReader(EnvelopeSchema, withRegistry ? { registry } : {});
  reader(readJson(text, 20), fieldsOf(message), undefined, violations);
  return { message, violations: listViolations(EnvelopeSchema, [], violations.items) };
}
