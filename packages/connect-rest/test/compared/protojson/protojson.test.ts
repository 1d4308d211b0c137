import {
  create,
  type DescMessage,
  fromJsonString,
  type JsonObject,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { fieldsOf } from "../../../src/json/message-fields.js";
import { protoJsonProfile } from "../../../src/json/protojson/protojson-profile.js";
import { createMessageReader } from "../../../src/json/read-message.js";
import { createMessageWriter } from "../../../src/json/write-message.js";
import { parseJsonBody } from "../../../src/read-json-body.js";
import { RestError } from "../../../src/rest-error.js";
import { noViolations } from "../../../src/violations/collect-violations.js";
import { KindsSchema } from "../../gen/library/v1/library_pb.js";
import { EnvelopeSchema } from "../../gen/library/v1/media_pb.js";
import { AliasesSchema, NamesSchema } from "../../gen/library/v1/spellings_pb.js";
import { registry } from "../../support/media-service.js";
import type { Group } from "./group.js";
import { syntaxAndNumbers } from "./numbers.js";
import { values } from "./values.js";
import { wellKnown } from "./well-known.js";
import { different, ignored, unwritable } from "./writing.js";

const schemas: Readonly<Record<Group["message"], DescMessage>> = {
  Kinds: KindsSchema,
  Names: NamesSchema,
  Aliases: AliasesSchema,
  Envelope: EnvelopeSchema,
};

describe.each([...syntaxAndNumbers, ...values, ...wellKnown])("$about", ({ message, accepted, refused }) => {
  const schema = schemas[message];

  for (const [json, canonical = JSON.parse(json) as JsonObject] of accepted) {
    test(`${json} is read`, () => {
      const read = readJson(schema, json);
      expect(toJson(schema, read, { registry })).toEqual(canonical);
      expect(toBinary(schema, read)).toEqual(toBinary(schema, readByLibrary(schema, json) ?? read));
      expect(written(schema, read)).toEqual(toJson(schema, read, { registry, alwaysEmitImplicit: true }));
    });
  }

  test.each(refused)("%s is refused", (json) => {
    expect(() => readJson(schema, json)).toThrow();
  });
});

test.each(ignored)("%s %s is read without its unknown names", (message, json, canonical) => {
  const schema = schemas[message];
  expect(() => readJson(schema, json)).toThrow();
  expect(toJson(schema, readJson(schema, json, true), { registry })).toEqual(canonical);
});

test.each(unwritable)("%s cannot be written", (_, field, value) => {
  const write = createMessageWriter(KindsSchema, { profile: protoJsonProfile({ ignoreUnknownFields: false }) });
  expect(() => write(create<DescMessage>(KindsSchema, { [field]: value }))).toThrow();
});

test.each(different)("unlike what is %s, %s is read (%s)", (_, json, _difference, canonical) => {
  expect(toJson<DescMessage>(KindsSchema, readJson(KindsSchema, json))).toEqual(canonical);
});

function readJson(schema: DescMessage, json: string, ignoreUnknownFields = false) {
  const message = create(schema);
  const violations = noViolations();
  const read = createMessageReader(schema, { registry, profile: protoJsonProfile({ ignoreUnknownFields }) });
  read(parseJsonBody(Buffer.from(json), 100), fieldsOf(message), undefined, violations);
  if (violations.items.length > 0) throw new RestError("INVALID", JSON.stringify(violations.items[0]?.code));
  return message;
}

/**
 * Returns undefined if the library rejects the JSON. It accepts only one member of a oneof, even if the others are
 * null.
 */
function readByLibrary(schema: DescMessage, json: string): Message | undefined {
  try {
    return fromJsonString(schema, json, { registry });
  } catch {
    return undefined;
  }
}

function written(schema: DescMessage, message: Message): unknown {
  const profile = protoJsonProfile({ ignoreUnknownFields: false });
  return JSON.parse(createMessageWriter(schema, { profile, registry })(message));
}
