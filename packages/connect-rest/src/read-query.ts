import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Fields } from "./json/message-fields.js";
import type { ReadRules } from "./json/read-message.js";
import { createParameterReader } from "./read-parameter.js";
import { isNested } from "./routes/message-types.js";
import { percentDecode } from "./routes/percent-decode.js";
import { addUnknownField, addViolation, type Violations } from "./violations/collect-violations.js";
import { memberStep } from "./violations/field-path.js";

/** The parameters that a query may have. */
export interface QueryRules extends Pick<ReadRules, "excluded" | "maxItems"> {
  readonly schema: DescMessage;
  /** Maximum number of names in a parameter's path. */
  readonly maxDepth: number;
}

/** The values sent for one field, under any of its names. */
interface Parameter {
  readonly fields: readonly DescField[];
  readonly texts: string[];
}

/**
 * Reads a raw query into the request message: `name=value` pairs, repeated for a repeated field. A name is the path of
 * a field in its JSON or proto spelling. `a.pageSize` and `a.page_size` are the same parameter.
 *
 * Percent-encoding is decoded once and `+` is a space, as in the WHATWG form encoding that clients' query builders
 * write. Violations are a name of no allowed field, and a value that its field rejects.
 */
export function readQuery(rules: QueryRules, rawQuery: string, request: Fields, violations: Violations): void {
  const parameters = new Map<string, Parameter>();
  for (const [name, texts] of groupPairs(rawQuery, violations)) {
    const fields = resolveName(rules, name);
    const path = fields?.map(({ jsonName }) => jsonName).join(".") ?? "";
    const known = parameters.get(path);
    if (fields === undefined) addUnknownField(violations, undefined, name);
    else if (known === undefined) parameters.set(path, { fields, texts });
    else known.texts.push(...texts);
  }
  for (const [name, { fields, texts }] of parameters) {
    const read = createParameterReader(fields, rules);
    if (read === undefined) addUnknownField(violations, undefined, name);
    else read(texts, request, violations);
  }
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

function resolveName({ schema, excluded = [], maxDepth }: QueryRules, name: string): DescField[] | undefined {
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
  return excluded.some((path) => path.every((field, index) => fields[index] === field)) ? undefined : fields;
}
