import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import type { OpenApiRoute, RouteSegment, RouteVariable } from "../../src/index.js";

/** The body of a route as http.proto writes it: "" for none, "*" for the whole message, else a field. */
interface Rule {
  readonly body?: string;
  readonly responseBody?: string;
}

/** Creates a route from a binding such as `PATCH /v1/{name=rooms/*}:rename`, which must be valid. */
export function makeRoute(method: DescMethod, binding: string, { body = "", responseBody }: Rule = {}): OpenApiRoute {
  const [httpMethod = "", source = ""] = binding.split(" ");
  const [, path = "", verb] = /^(.*?)(?::([^/:{}]+))?$/.exec(source) ?? [];
  const segments: RouteSegment[] = [];
  const variables: RouteVariable[] = [];
  for (const part of path.slice(1).match(/(?:\{[^}]*\}|[^/])+/g) ?? []) {
    const [, name, pattern = "*"] = /^\{([^=}]+)(?:=([^}]*))?\}$/.exec(part) ?? [];
    const start = segments.length;
    segments.push(...(name === undefined ? part : pattern).split("/").map(segmentOf));
    const end = segments.at(-1)?.kind === "rest" ? undefined : segments.length;
    if (name !== undefined) variables.push({ fields: fieldsOf(method.input, name), start, end });
  }
  return {
    method,
    httpMethod,
    template: { segments, verb },
    variables,
    body: body === "" ? "none" : body === "*" ? "message" : fieldOf(method.input, body),
    responseBody: responseBody === undefined ? undefined : fieldOf(method.output, responseBody),
  };
}

function segmentOf(text: string): RouteSegment {
  if (text === "**") return { kind: "rest" };
  return text === "*" ? { kind: "single" } : { kind: "literal", text: decodeURIComponent(text) };
}

function fieldsOf(message: DescMessage, path: string): DescField[] {
  const [name = "", ...below] = path.split(".");
  const field = fieldOf(message, name);
  return [
    field,
    ...(field.message === undefined || below.length === 0 ? [] : fieldsOf(field.message, below.join("."))),
  ];
}

function fieldOf(message: DescMessage, name: string): DescField {
  const field = message.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${message.typeName} has no field ${name}`);
  return field;
}
