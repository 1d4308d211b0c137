import { equals, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createRestHandler, type RestHandlerOptions } from "../../src/handler.js";
import type { PathTemplate } from "../../src/routes/path-template.js";
import type { Route } from "../../src/routes/routes.js";
import { type Kinds, KindsSchema } from "../gen/library/v1/library_pb.js";
import { call } from "../support/call-handler.js";
import { makeService } from "../support/make-service.js";
import { textOf } from "../support/random-json.js";
import { bindings, messages, type Sent, systemQueries } from "./clients.js";

describe.each(messages)("$about", (sent) => {
  test.each(sent.by)("by the binding %s", async (name) => {
    for (const system of ["", ...systemQueries]) {
      const got = await send(sent, name, system, { profile: "protojson" });
      const meant = fromJson(KindsSchema, sent.message as JsonObject);
      expect([toJson(KindsSchema, got), equals(KindsSchema, got, meant)]).toEqual([toJson(KindsSchema, meant), true]);
    }
  });
});

test("what clients send has only the spellings of the strict profile, except unknown enumeration values", async () => {
  for (const sent of messages.filter(({ about }) => !about.includes("does not know"))) {
    for (const name of sent.by) {
      const got = await send(sent, name, "", {});
      expect(equals(KindsSchema, got, fromJson(KindsSchema, sent.message as JsonObject))).toBe(true);
    }
  }
});

async function send(
  { message, template }: Sent,
  name: keyof typeof bindings,
  system: string,
  options: Partial<RestHandlerOptions>,
): Promise<Kinds> {
  const { service } = makeService({ name: "Repeat", ...bindings[name] });
  let got: Kinds | undefined;
  const implementation = {
    repeat: (request: Kinds) => {
      got = request;
      return {};
    },
  };
  const services = [{ service, implementation }];
  const route = createRestHandler({ services }).routes.find(
    (each) => template === undefined || each.template.source === template,
  );
  if (route === undefined) throw new Error(`no route ${template}`);
  const { url, body } = render(route, message as JsonObject, system);
  const { text } = await call({ ...options, services }, route.httpMethod, url, body === undefined ? {} : { body });
  if (got === undefined) throw new Error(text);
  return got;
}

/** Renders a message as a client does: fields of the path, then the body, then all that is left in the query. */
function render({ template, variables, body }: Route, message: JsonObject, system: string) {
  const rest = structuredClone(message);
  const path = pathOf(
    template,
    variables.map(({ fields, start, end, multiSegment }) => {
      const value = take(
        rest,
        fields.map(({ jsonName }) => jsonName),
      );
      const parts = multiSegment ? value.split("/") : [value];
      return { start, end, parts };
    }),
  );
  const sent = body === "none" ? undefined : body === "message" ? rest : rest[body.jsonName];
  const left = body === "none" ? rest : body === "message" ? {} : { ...rest, [body.jsonName]: undefined };
  const query = [...pairsOf(left as JsonObject, ""), ...(system === "" ? [] : [system])].join("&");
  return { url: query === "" ? path : `${path}?${query}`, body: sent === undefined ? undefined : JSON.stringify(sent) };
}

function pathOf(
  { segments, verb }: PathTemplate,
  values: readonly { readonly start: number; readonly end: number | undefined; readonly parts: readonly string[] }[],
): string {
  const parts = segments.flatMap((segment, index) => {
    const value = values.find(({ start, end }) => index >= start && (end === undefined || index < end));
    if (value === undefined) return segment.kind === "literal" ? [segment.text] : [];
    const isLast = index === segments.length - 1;
    return value.parts.slice(index - value.start, isLast ? undefined : index - value.start + 1);
  });
  return `/${parts.map(encodeURIComponent).join("/")}${verb === undefined ? "" : `:${verb}`}`;
}

function take(from: JsonObject, [name = "", ...names]: readonly string[]): string {
  const value = from[name];
  if (names.length > 0) return take(value as JsonObject, names);
  delete from[name];
  return textOf(value ?? "");
}

function pairsOf(json: JsonObject, prefix: string): string[] {
  return Object.entries(json).flatMap(([name, value]: [string, JsonValue | undefined]) => {
    if (value === undefined) return [];
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return pairsOf(value, `${prefix}${name}.`);
    return [`${encodeURIComponent(prefix + name)}=${encodeURIComponent(textOf(value))}`];
  });
}
