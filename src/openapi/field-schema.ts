import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { type FieldRules, field as fieldRulesOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { readable_with_scope as readableWithScope } from "../gen/cupo/options/v1/options_pb.js";
import { definitionComment } from "./definition-comment.js";
import { ruleKeywords } from "./rule-keywords.js";

/** Returns references to the schemas of other definitions. */
export interface References {
  toMessage(message: DescMessage): JsonObject;
  toEnum(definition: DescEnum): JsonObject;
}

const wellKnown: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?s$" },
};

/** Matches the comment of an enumeration's first value when that value means "none". */
const UNSAID = /^(?:never sent by the service|refused in requests(?: and never sent by the service)?)\.$/i;

const scalars: Readonly<Partial<Record<ScalarType, JsonObject>>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.INT32]: { type: "integer", format: "int32" },
  [ScalarType.UINT32]: { type: "integer", minimum: 0, maximum: 4_294_967_295 },
  [ScalarType.INT64]: { type: "string", pattern: "^-?[0-9]+$" },
  [ScalarType.UINT64]: { type: "string", pattern: "^[0-9]+$" },
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
};

/**
 * Returns the schema of a field: its ProtoJSON type, its rules and its proto comment. Throws for a type that no current
 * field has.
 */
export function fieldSchema(field: DescField, references: References): JsonObject {
  const rules = getOption(field, fieldRulesOption);
  const keywords = ruleKeywords(rules);
  const description = { description: [definitionComment(field), ...scopeNote(field)].join(" ") };
  if (field.fieldKind !== "list") return { ...valueSchema(field, rules, references), ...keywords, ...description };
  const ofItem = rules.type.case === "repeated" ? rules.type.value.items : undefined;
  const { items, ...ofList } = keywords;
  const item = { ...valueSchema(field, ofItem, references), ...Object(items), ...(ofItem && ruleKeywords(ofItem)) };
  return { type: "array", ...ofList, items: item, ...description };
}

/** Returns the schema of an enumeration. Its first value is omitted when its comment says that it is never used. */
export function enumSchema(definition: DescEnum): JsonObject {
  const values = saidValues(definition);
  const list = values.map((value) => `- \`${value.name}\`: ${definitionComment(value)}`).join("\n");
  return {
    type: "string",
    description: `${definitionComment(definition)}\n\n${list}`,
    enum: values.map(({ name }) => name),
  };
}

function valueSchema(field: DescField, rules: FieldRules | undefined, references: References): JsonObject {
  if (field.fieldKind === "map") throw unknownType(field);
  if (field.enum !== undefined) return { ...references.toEnum(field.enum), ...onlyThese(field.enum, rules) };
  if (field.message !== undefined) return wellKnown[field.message.typeName] ?? references.toMessage(field.message);
  const schema = field.scalar === undefined ? undefined : scalars[field.scalar];
  if (schema === undefined) throw unknownType(field);
  return schema;
}

function saidValues({ values }: DescEnum): DescEnum["values"] {
  return values.filter((value) => value.number !== 0 || !UNSAID.test(definitionComment(value)));
}

/** Returns the values that the rules of a field allow, when these are fewer than all values. */
function onlyThese(definition: DescEnum, rules: FieldRules | undefined): JsonObject {
  if (rules?.type.case !== "enum") return {};
  const { in: only, notIn } = rules.type.value;
  const isLeft = (number: number) => (only.length === 0 || only.includes(number)) && !notIn.includes(number);
  const left = definition.values.filter(({ number }) => isLeft(number)).map(({ name }) => name);
  return saidValues(definition).every(({ name }) => left.includes(name)) ? {} : { enum: left };
}

function scopeNote(field: DescField): string[] {
  const scope = getOption(field, readableWithScope);
  return scope === "" ? [] : [`The scope is \`${scope}\`.`];
}

function unknownType(field: DescField): Error {
  return new Error(`${field.parent?.typeName}.${field.name} has a type that the OpenAPI documents do not support`);
}
