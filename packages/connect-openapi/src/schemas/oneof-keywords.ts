import { type DescField, type DescMessage, getOption, type JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { oneof as oneofRulesOption } from "../gen/buf/validate/validate_pb.js";
import { messageRulesOf } from "../rules/options-of.js";
import { joined, keywords, SAID, type Translation } from "../rules/translation.js";

/** At most one of these fields may be set. If `isRequired` is true, exactly one must be set. */
interface Choice {
  readonly fields: readonly DescField[];
  readonly isRequired: boolean;
}

/**
 * Translates the oneofs of a message, and the oneofs of its protovalidate rules. At most one member of a oneof may be
 * present; if the oneof is required, exactly one must be. A oneof with a field outside of `included` is ignored.
 */
export function oneofKeywords(message: DescMessage, included: readonly DescField[]): Translation {
  const ofProto = message.oneofs.map((oneof) => ({
    fields: oneof.fields,
    isRequired: getOption(oneof, oneofRulesOption).required,
  }));
  const ofRules = messageRulesOf(message).oneof.map((rule) => ({
    fields: message.fields.filter(({ name }) => rule.fields.includes(name)),
    isRequired: rule.required,
  }));
  const whole = [...ofProto, ...ofRules].filter(({ fields }) => fields.every((field) => included.includes(field)));
  return joined(whole.map(translateChoice));
}

/**
 * Translates a choice to keywords. If a field of the choice does not track presence, returns a sentence in `unsaid`
 * instead: JSON can contain such a field with its default value, which counts as not set.
 */
function translateChoice({ fields, isRequired }: Choice): Translation {
  const names = fields.map(({ jsonName }) => jsonName);
  const hasPresence = fields.every(({ presence }) => presence === FeatureSet_FieldPresence.EXPLICIT);
  if (!hasPresence) return inWords(names, isRequired);
  if (isRequired) return keywords({ oneOf: names.map((name) => ({ required: [name] })) });
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => bothPresent(one, other)));
  return pairs.length === 0 ? SAID : keywords({ not: anyOf(pairs) });
}

/**
 * Returns a schema that only objects with both members match. `properties` lists the members too, because linters
 * require it.
 */
function bothPresent(one: string, other: string): JsonObject {
  return { properties: { [one]: {}, [other]: {} }, required: [one, other] };
}

function inWords(names: readonly string[], isRequired: boolean): Translation {
  const list = names.map((name) => `\`${name}\``).join(", ");
  const message = `${isRequired ? "exactly" : "at most"} one of ${list} must be set`;
  return { schemas: [], unsaid: [{ id: "message.oneof", message, expression: "", reason: "FORM" }] };
}

function anyOf(schemas: readonly JsonObject[]): JsonObject {
  return schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: [...schemas] };
}
