import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Fields } from "./json/message-fields.js";
import { createParameterReader, type ReadParameter } from "./read-parameter.js";
import { isNested } from "./routes/message-types.js";
import { percentDecode } from "./routes/percent-decode.js";
import { addFinding, addUnknownMember, type Findings, showName } from "./violations/findings.js";

/** Which parameters a query may have. */
export interface QueryRules {
  readonly schema: DescMessage;
  /** JSON paths that the path or the body fills; parameters in or below one are unknown. */
  readonly excluded: readonly string[];
  /** How many names a parameter may be made of. */
  readonly maxDepth: number;
}

/**
 * Reads a raw query into the request message: `name=value` pairs, names being JSON paths (`a.b`), repeated for a repeated
 * field. Percent-encoding is decoded once and `+` is a space, as in the WHATWG's form encoding, which is what clients' query
 * builders write. A parameter that names no field that may stand here, or holds no value for it, is a finding.
 */
export function readQuery(rules: QueryRules, rawQuery: string, request: Fields, findings: Findings): void {
  for (const [name, texts] of groupPairs(rawQuery, findings)) {
    const read = resolveParameter(rules, name);
    if (read === undefined) addUnknownMember(findings, undefined, name);
    else read(texts, request, findings);
  }
}

function groupPairs(rawQuery: string, findings: Findings): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const pair of rawQuery.split("&")) {
    if (pair === "") continue;
    const [rawName = "", ...rawValue] = pair.replaceAll("+", "%20").split("=");
    const name = percentDecode(rawName);
    const text = percentDecode(rawValue.join("="));
    if (name === undefined || text === undefined) refuseEscape(findings, name ?? rawName);
    else if (!groups.get(name)?.push(text)) groups.set(name, [text]);
  }
  return groups;
}

function refuseEscape(findings: Findings, name: string): void {
  const step = { kind: "member", text: showName(name), order: Number.MAX_SAFE_INTEGER } as const;
  addFinding(findings, "INVALID_FORMAT", { parent: undefined, step }, "the parameter is not percent-encoded UTF-8");
}

function resolveParameter({ schema, excluded, maxDepth }: QueryRules, name: string): ReadParameter | undefined {
  const steps = name.split(".", maxDepth + 1);
  if (steps.length > maxDepth || excluded.some((path) => name === path || name.startsWith(`${path}.`)))
    return undefined;
  const fields: DescField[] = [];
  let parent: DescMessage | undefined = schema;
  for (const step of steps) {
    const field: DescField | undefined = parent?.fields.find(({ jsonName }) => jsonName === step);
    if (field === undefined) return undefined;
    fields.push(field);
    parent = isNested(field) ? field.message : undefined;
  }
  return createParameterReader(fields);
}
