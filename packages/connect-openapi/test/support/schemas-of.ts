import {
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
} from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { SchemaOptions } from "../../src/index.js";
import { createMessageSchemas } from "../../src/schemas/message-schemas.js";
import type { Direction } from "../../src/schemas/schema-options.js";
import { file_museum_v1_predefined } from "../gen/museum/v1/predefined_pb.js";

/** A schema of an object. */
export interface ObjectSchema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/** Returns the schemas of a message and of everything that it refers to, by name. */
export function schemasOf(
  message: DescMessage,
  direction: Direction = "request",
  options: SchemaOptions = {},
): Readonly<Record<string, ObjectSchema>> {
  const schemas = createMessageSchemas(options, [message.file]);
  schemas.refer(message, direction);
  return schemas.named([]).schemas as unknown as Readonly<Record<string, ObjectSchema>>;
}

/** Returns a function that returns whether the schema of a message accepts JSON. */
export function schemaVerdict(message: DescMessage): (json: JsonValue) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ components: { schemas: schemasOf(message) } }, "document");
  const validate = ajv.compile({ $ref: `document#/components/schemas/${message.name}` });
  return (json) => validate(json);
}

/**
 * Returns a function that returns whether protovalidate accepts the message that JSON stands for. A float is rounded as
 * in the binary form.
 */
export function ruleVerdict(message: DescMessage): (json: JsonValue) => boolean {
  const validator = createValidator({ registry: createRegistry(file_museum_v1_predefined) });
  return (json) => {
    const sent = toBinary(message, fromJson(message, json));
    const result = validator.validate(message, fromBinary(message, sent));
    if (result.kind === "error") throw result.error;
    return result.kind === "valid";
  };
}
