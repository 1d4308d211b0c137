import { type DescMethod, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { type HttpRule, HttpRuleSchema } from "../gen/google/api/http_pb.js";

/**
 * A rule of a service configuration, as plain JSON: an item of `http.rules` of a google.api.Service. Names may be
 * spelled as in JSON or as in protos.
 */
export interface HttpRuleJson {
  /** The full name of one method, such as "library.v1.LibraryService.GetBook". */
  readonly selector: string;
  readonly get?: string;
  readonly put?: string;
  readonly post?: string;
  readonly delete?: string;
  readonly patch?: string;
  readonly custom?: { readonly kind: string; readonly path: string };
  readonly body?: string;
  readonly responseBody?: string;
  readonly response_body?: string;
  readonly additionalBindings?: readonly Omit<HttpRuleJson, "selector">[];
  readonly additional_bindings?: readonly Omit<HttpRuleJson, "selector">[];
}

/** HTTP rules by the full name of their method. */
export type RulesBySelector = ReadonlyMap<string, HttpRule>;

/**
 * Reads HTTP rules from outside the proto files. If several rules select one method, the last one counts, as in service
 * configurations. Rules for services without a method in `methods` are ignored, because a configuration may describe
 * services that are served elsewhere.
 *
 * Throws if a rule:
 * - has an unknown or invalid member
 * - selects more than one method
 * - names an unknown method of a service that has a method in `methods`
 */
export function rulesBySelector(rules: readonly HttpRuleJson[], methods: readonly DescMethod[]): RulesBySelector {
  const bySelector = new Map(rules.map((rule) => [rule.selector, readRule(rule)]));
  const services = new Map(methods.map(({ parent }) => [parent.typeName, parent]));
  for (const selector of bySelector.keys()) {
    const dot = selector.lastIndexOf(".");
    const service = services.get(selector.slice(0, dot));
    if (service !== undefined && !service.methods.some(({ name }) => name === selector.slice(dot + 1))) {
      throw new Error(`the HTTP rule for ${selector}: ${service.file.proto.name} has no such method`);
    }
  }
  return bySelector;
}

/** Returns the name by which a rule selects a method, such as "library.v1.LibraryService.GetBook". */
export function selectorOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}.${name}`;
}

function readRule(rule: HttpRuleJson): HttpRule {
  if (!/^[\w.]+$/.test(rule.selector)) {
    throw new Error(`the HTTP rule for "${rule.selector}" must select one method by its full name`);
  }
  try {
    return fromJson(HttpRuleSchema, rule as JsonObject & HttpRuleJson);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`the HTTP rule for ${rule.selector}: ${message}`, { cause: error });
  }
}
