import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Fields } from "./json/message-fields.js";
import { lazily } from "./lazily.js";
import { createParameterReader, type ParameterRules, type ReadParameter } from "./read-parameter.js";
import { isNested } from "./routes/message-types.js";
import { percentDecode } from "./routes/percent-decode.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { memberStep } from "./violations/field-path.js";

/**
 * A path to a field. The first item is a field of the request message. Each further item is a field of the message that
 * the previous item contains.
 */
type FieldNames = readonly DescField[];

/** The parameters that a query may have. */
export interface QueryRules extends ParameterRules {
  readonly schema: DescMessage;
  /** Paths of fields. Parameters may name these fields and the fields in them, but the values are not read. */
  readonly ignored: readonly FieldNames[];
  /** Paths of fields. No parameter may name these fields or the fields in them. */
  readonly excluded: readonly FieldNames[];
  /** Names of parameters that are ignored, unless the name is a field that the query may set. */
  readonly ignoredNames: ReadonlySet<string>;
  /** Maximum number of field names in a parameter's name: `a.b` has two. */
  readonly maxDepth: number;
}

/** Reads a raw query into the request message. */
export type ReadQuery = (rawQuery: string, request: Fields, violations: Violations) => void;

/**
 * The meaning of a parameter's name: a field; "ignored" for a name that is allowed but whose value is not read; "none"
 * for a name that is not allowed.
 */
type Target = FieldTarget | "ignored" | "none";

interface FieldTarget {
  /** The JSON path of the field. */
  readonly path: string;
  /** Undefined for a field, such as a map, that a text cannot represent. */
  readonly read: ReadParameter | undefined;
}

/** All texts that the query has for one field, under any name of the field. */
interface Parameter extends FieldTarget {
  readonly texts: string[];
}

/**
 * Returns a function that reads a raw query: `name=value` pairs, with one pair for each item of a repeated field. A
 * name is the path of a field in its JSON or proto spelling: `a.pageSize` and `a.page_size` are the same parameter.
 * Percent-encoding is decoded once and `+` is a space, as in the WHATWG form encoding.
 *
 * The function reports these violations:
 * - a name that is not an allowed field, unless `ignoredNames` or the profile ignores the name
 * - invalid percent-encoding
 * - a value that its field rejects
 *
 * A name with a dot is resolved again for each request, because recursive messages have any number of paths.
 */
export function createQueryReader(rules: QueryRules): ReadQuery {
  const { schema, ignoredNames, profile } = rules;
  const names = schema.fields.flatMap(({ name, jsonName }) => [name, jsonName]);
  const compiled = lazily(() => new Map(names.map((name) => [name, targetOf(rules, name)])));
  return (rawQuery, request, violations) => {
    const parameters = new Map<string, Parameter>();
    for (const [name, texts] of groupPairs(rawQuery, violations)) {
      const target = compiled().get(name) ?? targetOf(rules, name);
      if (typeof target !== "string") addTexts(parameters, target, texts);
      else if (target === "none" && !ignoredNames.has(name)) profile.unknownName(violations, undefined, name);
    }
    for (const { path, read, texts } of parameters.values()) {
      if (read === undefined) profile.unknownName(violations, undefined, path);
      else read(texts, request, violations);
    }
  };
}

function groupPairs(rawQuery: string, violations: Violations): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const pair of rawQuery.split("&")) {
    if (pair === "") continue;
    const [rawName = "", ...rawValue] = pair.replaceAll("+", "%20").split("=");
    const name = percentDecode(rawName);
    const text = percentDecode(rawValue.join("="));
    if (name === undefined || text === undefined) refuseEscape(violations, name ?? rawName);
    else if (!groups.get(name)?.push(text)) groups.set(name, [text]);
  }
  return groups;
}

function refuseEscape(violations: Violations, name: string): void {
  const step = memberStep(name, violations.unknownFields++);
  addViolation(violations, "INVALID_FORMAT", { parent: undefined, step }, "the parameter is not percent-encoded UTF-8");
}

function addTexts(parameters: Map<string, Parameter>, target: FieldTarget, texts: string[]): void {
  const known = parameters.get(target.path);
  if (known === undefined) parameters.set(target.path, { ...target, texts });
  else known.texts.push(...texts);
}

function targetOf(rules: QueryRules, name: string): Target {
  const fields = resolveName(rules, name);
  if (fields !== undefined && isWithin(fields, rules.ignored)) return "ignored";
  if (fields === undefined || isWithin(fields, rules.excluded)) return "none";
  return { path: fields.map(({ jsonName }) => jsonName).join("."), read: createParameterReader(fields, rules) };
}

function resolveName({ schema, maxDepth }: QueryRules, name: string): DescField[] | undefined {
  const names = name.split(".", maxDepth + 1);
  if (names.length > maxDepth) return undefined;
  const fields: DescField[] = [];
  let parent: DescMessage | undefined = schema;
  for (const each of names) {
    const field: DescField | undefined = parent?.fields.find(
      ({ jsonName, name: own }) => jsonName === each || own === each,
    );
    if (field === undefined) return undefined;
    fields.push(field);
    parent = isNested(field) ? field.message : undefined;
  }
  return fields;
}

function isWithin(fields: FieldNames, paths: readonly FieldNames[]): boolean {
  return paths.some((path) => path.every((field, index) => fields[index] === field));
}
