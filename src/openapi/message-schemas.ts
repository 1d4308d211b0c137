import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  field as fieldRules,
  message as messageRulesOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { readable_with_scope as readableWithScope } from "../gen/cupo/options/v1/options_pb.js";
import { FieldBehavior, field_behavior as fieldBehavior } from "../gen/google/api/field_behavior_pb.js";
import { definitionComment } from "./definition-comment.js";
import { enumSchema, fieldSchema, type References } from "./field-schema.js";

/**
 * Where a message occurs: in a request, a response or an error. The members of an error are required only where its
 * proto says so.
 */
export type Direction = "request" | "response" | "error";

/** Collects the schemas of messages and enumerations that are referred to. */
export interface MessageSchemas {
  /** Returns a reference to the schema of a message without the `excluded` fields. Adds the schema on first use. */
  refer(message: DescMessage, direction: Direction, excluded?: readonly DescField[]): JsonObject;
  /** Returns the schema of one field. */
  ofField(field: DescField, direction: Direction): JsonObject;
  /** All collected schemas by name. */
  readonly schemas: Readonly<Record<string, JsonValue>>;
}

/**
 * Creates a collection of schemas. Schemas of requests are closed, because unknown members are an error. Schemas of
 * responses are open, because members may be added later. A member of a response is required when its message always
 * contains it.
 *
 * Throws when two definitions have the same name, or when one message is used in two directions.
 */
export function createMessageSchemas(): MessageSchemas {
  const schemas: Record<string, JsonValue> = {};
  const subjects = new Map<string, string>();
  const add = (definition: DescMessage | DescEnum, context: string, make: () => JsonObject): JsonObject => {
    const name = schemaName(definition);
    const subject = `${definition.typeName} ${context}`;
    const known = subjects.get(name);
    if (known === undefined) {
      subjects.set(name, subject);
      schemas[name] = {};
      schemas[name] = make();
    } else if (known !== subject) throw new Error(`${known} and ${subject} would have the same schema name ${name}`);
    return { $ref: `#/components/schemas/${name}` };
  };
  const refer: MessageSchemas["refer"] = (message, direction, excluded = []) => {
    const fields = message.fields.filter((field) => !excluded.includes(field));
    const ofField = (field: DescField) => fieldSchema(field, referencesFrom(direction));
    return add(message, `in a ${direction}`, () => messageSchema(message, direction, fields, ofField));
  };
  const referencesFrom = (direction: Direction): References => ({
    toMessage: (message) => refer(message, direction),
    toEnum: (definition) => add(definition, "", () => enumSchema(definition)),
  });
  return { refer, ofField: (field, direction) => fieldSchema(field, referencesFrom(direction)), schemas };
}

function messageSchema(
  message: DescMessage,
  direction: Direction,
  fields: readonly DescField[],
  ofField: (field: DescField) => JsonObject,
): JsonObject {
  const required = fields.filter((field) => isRequired(field, direction)).map(({ jsonName }) => jsonName);
  return {
    type: "object",
    description: [definitionComment(message), ...messageRules(message)].join("\n\n"),
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, ofField(field)])),
    ...(required.length === 0 ? {} : { required }),
    ...(direction === "request" ? { additionalProperties: false } : {}),
  };
}

function schemaName({ typeName, file }: DescMessage | DescEnum): string {
  return typeName.slice(file.proto.package.length + 1).replaceAll(".", "");
}

function isRequired(field: DescField, direction: Direction): boolean {
  if (getOption(field, readableWithScope) !== "") return false;
  if (getOption(field, fieldRules).required) return true;
  if (getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED)) return true;
  return direction === "response" && field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/** Returns sentences for people about the rules of a whole message. */
function messageRules(message: DescMessage): string[] {
  const sentences = getOption(message, messageRulesOption).cel.map((rule) => rule.message);
  return sentences.filter((sentence) => sentence !== "").map((sentence) => `Rule: ${sentence}.`);
}
