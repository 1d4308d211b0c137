import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import { isHttpBody } from "../../src/routes/message-types.js";
import type { BoundVariable, Route } from "../../src/routes/routes.js";
import { updateMaskField } from "../../src/update-mask.js";
import { pick, type Random, randomLeaf, randomMessage, randomValue, textOf } from "./random-json.js";

/** A request as a client of google.api.http sends it, and the message it means, as JSON. */
export interface RenderedRequest {
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly meant: JsonObject;
}

const dynamic = new Set([
  "google.protobuf.Any",
  "google.protobuf.Struct",
  "google.protobuf.Value",
  "google.protobuf.ListValue",
]);
/** A body that is no JSON, and the google.api.HttpBody that it means. */
const rawBody = { text: "raw", meant: { contentType: "application/json", data: "cmF3" } };
const segmentTexts = ["a", "b c", "1%", "q?", "ñ", "😀", "a:b", "..", "{x}", "-", "p+q", "%2F"];

/** Generates a random message for a route and renders it by the rules of google/api/http.proto. */
export function renderRequest(route: Route, random: Random): RenderedRequest {
  const { method, body, variables } = route;
  if (isHttpBody(body === "message" ? method.input : undefined)) return renderRaw(route, random);
  const json = randomMessage(method.input, random);
  const mask = updateMaskField(route);
  if (mask !== undefined) delete json[mask.jsonName];
  if (typeof body !== "string") replace(json, [body], json[body.jsonName] ?? randomValue(body, random));
  for (const { fields } of variables) replace(json, fields, undefined);
  const isRaw = typeof body !== "string" && body.fieldKind === "message" && isHttpBody(body.message);
  if (isRaw) json[body.jsonName] = rawBody.meant;
  const text = isRaw ? rawBody.text : JSON.stringify(typeof body === "string" ? json : json[body.jsonName]);
  const inBody = body === "message" ? json : typeof body === "string" ? {} : pickMember(json, body.jsonName);
  const { path, values } = renderPath(route, random);
  const inQuery = body === "message" ? {} : withoutMember(json, typeof body === "string" ? "" : body.jsonName);
  const pairs: string[] = [];
  const meant = { ...renderQuery(method.input, inQuery, random, "", pairs), ...inBody };
  for (const [index, { fields }] of variables.entries()) replace(meant, fields, values[index]);
  return { path, query: pairs.join("&"), body: body === "none" ? "" : text, meant };
}

/** Renders a request whose whole message is a google.api.HttpBody. */
function renderRaw(route: Route, random: Random): RenderedRequest {
  return { path: renderPath(route, random).path, query: "", body: rawBody.text, meant: { ...rawBody.meant } };
}

function renderPath({ template, variables }: Route, random: Random): { path: string; values: JsonValue[] } {
  const parts = template.segments.map((segment) => {
    if (segment.kind === "literal") return [segment.text];
    return Array.from({ length: segment.kind === "single" ? 1 : 1 + random(2) }, () => pick(random, segmentTexts));
  });
  const values = variables.map((variable) => {
    const isWildcard = !variable.multiSegment && template.segments[variable.start]?.kind === "single";
    return valueOf(variable, isWildcard, parts, random);
  });
  const verb = template.verb === undefined ? "" : `:${encode(template.verb)}`;
  return { path: `/${parts.flat().map(encode).join("/")}${verb}`, values };
}

/**
 * Returns the value of a variable: its segments. A variable that is a single wildcard gets a random value of its field.
 */
function valueOf(
  { fields, start, end }: BoundVariable,
  isWildcard: boolean,
  parts: string[][],
  random: Random,
): JsonValue {
  const leaf = fields.at(-1);
  if (leaf === undefined || !isWildcard) return parts.slice(start, end).flat().join("/");
  const value = randomLeaf(leaf, random);
  parts[start] = [textOf(value)];
  return value;
}

/** Adds a pair for each value that a query can have. Returns the message that the pairs make. */
function renderQuery(
  schema: DescMessage,
  json: JsonObject,
  random: Random,
  prefix: string,
  pairs: string[],
): JsonObject {
  const meant: JsonObject = {};
  for (const field of schema.fields) {
    const value = json[field.jsonName];
    if (value === undefined || value === null || field.fieldKind === "map") continue;
    const name = prefix + pick(random, [field.name, field.jsonName]);
    if (field.message === undefined || hasCustomJsonRepresentation(field.message)) {
      if (dynamic.has(field.message?.typeName ?? "")) continue;
      const values = Array.isArray(value) ? value : [value];
      pairs.push(...values.map((each) => `${encode(name)}=${encode(textOf(each))}`));
      meant[field.jsonName] = value;
    } else if (field.fieldKind === "message" && isObject(value)) {
      const before = pairs.length;
      const nested = renderQuery(field.message, value, random, `${name}.`, pairs);
      if (pairs.length > before) meant[field.jsonName] = nested;
    }
  }
  return meant;
}

/** Sets or removes the field at the end of a path of fields, and removes the other members of its oneofs. */
function replace(json: JsonObject, [field, ...rest]: readonly DescField[], value: JsonValue | undefined): void {
  if (field === undefined) return;
  for (const other of field.oneof?.fields ?? []) if (other !== field) delete json[other.jsonName];
  if (rest.length > 0) {
    const child = json[field.jsonName];
    const nested: JsonObject = isObject(child) ? child : {};
    if (value !== undefined) json[field.jsonName] = nested;
    replace(nested, rest, value);
  } else if (value === undefined) delete json[field.jsonName];
  else json[field.jsonName] = value;
}

function pickMember(json: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([each]) => each === name));
}

function withoutMember(json: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([each]) => each !== name));
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Percent-encodes all but the unreserved characters of RFC 3986, as google/api/http.proto requires. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}
