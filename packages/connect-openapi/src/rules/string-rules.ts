import type { DescField, JsonObject } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { KnownRegex } from "../gen/buf/validate/validate_pb.js";
import { escapePattern, patternOf } from "./pattern.js";
import { ruleSentence } from "./rule-sentence.js";
import { joined, keywords, SAID, type Translation } from "./translation.js";

type Translate = (value: unknown, rule: DescField, rules: ReflectMessage) => Translation;

const format = (name: string): Translate => whenTrue({ format: name });
const shape = (pattern: string): Translate => whenTrue({ pattern });
const identifier = "[A-Za-z_][A-Za-z_0-9]*";

const translations: Readonly<Record<string, Translate>> = {
  const: (value) => keywords({ const: String(value) }),
  in: (values) => keywords({ enum: texts(values) }),
  not_in: (values) => keywords({ not: { enum: texts(values) } }),
  example: (values) => keywords({ examples: texts(values) }),
  len: (value) => keywords({ minLength: Number(value), maxLength: Number(value) }),
  min_len: (value) => keywords({ minLength: Number(value) }),
  max_len: (value) => keywords({ maxLength: Number(value) }),
  len_bytes: (value, rule) =>
    inPart({ minLength: Math.ceil(Number(value) / 4), maxLength: Number(value) }, rule, value),
  min_bytes: (value, rule) => inPart({ minLength: Math.ceil(Number(value) / 4) }, rule, value),
  max_bytes: (value, rule) => inPart({ maxLength: Number(value) }, rule, value),
  pattern: (value, rule) => patternRule(String(value), false, rule, value),
  prefix: (value, rule) => patternRule(`^${escapePattern(String(value))}`, false, rule, value),
  suffix: (value, rule) => patternRule(`${escapePattern(String(value))}$`, false, rule, value),
  contains: (value, rule) => patternRule(escapePattern(String(value)), false, rule, value),
  not_contains: (value, rule) => patternRule(escapePattern(String(value)), true, rule, value),
  email: format("email"),
  hostname: format("hostname"),
  ip: whenTrue({ anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }),
  ipv4: format("ipv4"),
  ipv6: format("ipv6"),
  uri: format("uri"),
  uri_ref: format("uri-reference"),
  address: whenTrue({ anyOf: [{ format: "hostname" }, { format: "ipv4" }, { format: "ipv6" }] }),
  uuid: format("uuid"),
  tuuid: shape("^[0-9a-fA-F]{32}$"),
  ulid: shape("^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$"),
  protobuf_fqn: shape(`^${identifier}(\\.${identifier})*$`),
  protobuf_dot_fqn: shape(`^\\.${identifier}(\\.${identifier})*$`),
  well_known_regex: headerRule,
  strict: () => SAID,
};

/**
 * The patterns of HTTP header names and values by KnownRegex. The first pattern is protovalidate's default, the second
 * is for `strict: false`.
 */
const headers: Readonly<Record<number, readonly [strict: string, loose: string]>> = {
  [KnownRegex.HTTP_HEADER_NAME]: ["^:?[0-9a-zA-Z!#$%&'*+.^_|~\\u0060-]+$", "^[^\\u0000\\u000a\\u000d]+$"],
  [KnownRegex.HTTP_HEADER_VALUE]: ["^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*$", "^[^\\u0000\\u000a\\u000d]*$"],
};

/** Translates the protovalidate rules of a string value. */
export function stringRules(rules: ReflectMessage): Translation {
  const set = rules.fields.filter((rule) => rules.isSet(rule));
  return joined(
    set.map((rule) => {
      const value: unknown = rules.get(rule);
      const translate = translations[rule.name];
      return translate === undefined
        ? { schemas: [], unsaid: value === false ? [] : [ruleSentence("string", rule, value)] }
        : translate(value, rule, rules);
    }),
  );
}

function whenTrue(schema: JsonObject): Translate {
  return (value) => (value === true ? keywords(schema) : SAID);
}

function texts(values: unknown): string[] {
  return Array.from(values as Iterable<unknown>, String);
}

function inPart(schema: JsonObject, rule: DescField, value: unknown): Translation {
  return { schemas: [schema], unsaid: [ruleSentence("string", rule, value)] };
}

function patternRule(expression: string, isForbidden: boolean, rule: DescField, value: unknown): Translation {
  const text = patternOf(expression, isForbidden);
  if (text === undefined)
    return { schemas: [], unsaid: [{ ...ruleSentence("string", rule, value), reason: "PATTERN" }] };
  return keywords(isForbidden ? { not: { pattern: text } } : { pattern: text });
}

function headerRule(value: unknown, _: DescField, rules: ReflectMessage): Translation {
  const strict = rules.fields.find(({ name }) => name === "strict");
  const [whenStrict, whenLoose] = headers[Number(value)] ?? [];
  const isLoose = strict !== undefined && rules.isSet(strict) && rules.get(strict) === false;
  const text = isLoose ? whenLoose : whenStrict;
  return text === undefined ? SAID : keywords({ pattern: text });
}
