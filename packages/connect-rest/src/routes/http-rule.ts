import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../gen/google/api/http_pb.js";

/** One binding of a method, as a google.api.http rule declares it. Nothing in it has been checked. */
export interface HttpBinding {
  /** The HTTP method; "*" for every method; "" if the rule has no pattern. */
  readonly httpMethod: string;
  readonly template: string;
  /** "" for no body; "*" for the whole request message; otherwise the proto name of the field that is the body. */
  readonly body: string;
  /** "" for the whole response message; otherwise the proto name of the field that is the response body. */
  readonly responseBody: string;
}

/**
 * Returns the bindings of a method: first the rule of its google.api.http option, then the additional bindings of the
 * rule. Returns an empty list if the method has no such option. Throws if additional bindings nest, which
 * google/api/http.proto forbids.
 */
export function httpBindings(method: DescMethod): HttpBinding[] {
  return hasOption(method, http) ? bindingsOfRule(getOption(method, http)) : [];
}

/** Returns the bindings of a rule, see {@link httpBindings}. */
export function bindingsOfRule(rule: HttpRule): HttpBinding[] {
  if (rule.additionalBindings.some((nested) => nested.additionalBindings.length > 0)) {
    throw new Error("additional_bindings cannot have additional_bindings");
  }
  return [rule, ...rule.additionalBindings].map(bindingOf);
}

/** Returns the binding of a method without a rule: `POST /package.Service/Method` with the whole message as body. */
export function defaultBinding({ parent, name }: DescMethod): HttpBinding {
  return { httpMethod: "POST", template: `/${parent.typeName}/${name}`, body: "*", responseBody: "" };
}

function bindingOf({ pattern, body, responseBody }: HttpRule): HttpBinding {
  const custom = pattern.case === "custom" ? pattern.value : undefined;
  return {
    httpMethod: custom?.kind ?? pattern.case?.toUpperCase() ?? "",
    template: custom?.path ?? (typeof pattern.value === "string" ? pattern.value : ""),
    body,
    responseBody,
  };
}
