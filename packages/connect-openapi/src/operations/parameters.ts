import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import type { OpenApiRoute } from "../route.js";
import type { MessageSchemas } from "../schemas/message-schemas.js";
import type { FieldPath } from "../schemas/schema-context.js";
import { type PathParameter, type RoutePath, variableName } from "./route-path.js";

/** An example request in ProtoJSON; undefined for none. Each parameter shows the value of its field as an example. */
export type ExampleRequest = JsonObject | undefined;

/** Message types whose JSON can have any shape, so no query parameter can hold them. */
const DYNAMIC: ReadonlySet<string> = new Set(
  ["Any", "Struct", "Value", "ListValue"].map((name) => `google.protobuf.${name}`),
);

/** Returns the OpenAPI parameters of a path. */
export function pathParameters(path: RoutePath, schemas: MessageSchemas, example: ExampleRequest): JsonObject[] {
  return path.parameters.map((parameter) => {
    const { description, ...schema } = pathSchema(parameter, schemas);
    const value = exampleOf(parameter, example);
    return {
      name: parameter.name,
      in: "path",
      required: true,
      ...(description === undefined ? {} : { description }),
      schema,
      ...(value === undefined ? {} : { example: value }),
    };
  });
}

/**
 * Returns the query parameters of a route: one for each field of the request that is neither in the path nor in the
 * body. The fields of a nested message are separate parameters, such as `filter.author`. These fields are left out:
 * - maps
 * - a message that is nested in a message of the same type, at any depth
 * - types whose JSON can have any shape, such as google.protobuf.Struct
 * - lists of messages, unless the messages have a special JSON form, such as Timestamp
 */
export function queryParameters(route: OpenApiRoute, schemas: MessageSchemas, example: ExampleRequest): JsonObject[] {
  if (route.body === "message") return [];
  const excluded: FieldPath[] = route.variables.map(({ fields }) => fields);
  if (route.body !== "none") excluded.push([route.body]);
  return leavesOf(route.method.input, [], excluded).map((path) => queryParameter(path, schemas, example));
}

function pathSchema({ variable, isWhole, isRest }: PathParameter, schemas: MessageSchemas): JsonObject {
  const leaf = variable?.fields.at(-1);
  if (leaf === undefined || variable === undefined) return { type: "string" };
  const schema = isWhole && !isRest ? schemas.ofField(leaf, "request") : { type: "string" };
  const comment = isWhole ? schemas.comment(leaf) : `A segment of \`${variableName(variable)}\`.`;
  const note = isRest ? "It can have several segments: a slash in it is not encoded." : undefined;
  const { description: own } = schema;
  const texts = [typeof own === "string" ? own : comment, note];
  const description = texts.filter((text) => text !== undefined).join(" ");
  return { ...schema, ...(description === "" ? {} : { description }) };
}

function exampleOf(
  { variable, isWhole, index, isRest }: PathParameter,
  example: ExampleRequest,
): JsonValue | undefined {
  if (variable === undefined) return undefined;
  const value = valueAt(example, variable.fields);
  if (isWhole || typeof value !== "string") return value;
  const parts = value.split("/").slice(index - variable.start);
  return isRest ? parts.join("/") : parts[0];
}

function leavesOf(message: DescMessage, parents: FieldPath, excluded: readonly FieldPath[]): FieldPath[] {
  const types = new Set([message, ...parents.map(({ parent }) => parent)]);
  return message.fields.flatMap((field) => {
    const path = [...parents, field];
    if (excluded.some((other) => isSamePath(other, path))) return [];
    if (field.fieldKind === "map") return [];
    if (field.message === undefined) return [path];
    if (hasCustomJsonRepresentation(field.message)) return DYNAMIC.has(field.message.typeName) ? [] : [path];
    if (field.fieldKind === "list" || types.has(field.message)) return [];
    return leavesOf(field.message, path, excluded);
  });
}

function queryParameter(path: FieldPath, schemas: MessageSchemas, example: ExampleRequest): JsonObject {
  const [leaf] = path.slice(-1);
  const { description, ...schema } = leaf === undefined ? {} : schemas.ofField(leaf, "request");
  const value = valueAt(example, path);
  return {
    name: path.map(({ jsonName }) => jsonName).join("."),
    in: "query",
    ...(path.every((field) => schemas.isRequired(field, "request")) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(value === undefined ? {} : { example: value }),
  };
}

function isSamePath(one: FieldPath, other: FieldPath): boolean {
  return one.length === other.length && one.every((field, index) => field === other[index]);
}

/**
 * Returns the value at a path of fields in a message in ProtoJSON. Finds only members with JSON names, such as
 * `pageSize`. Returns undefined if the message does not contain the value.
 */
export function valueAt(json: JsonValue | undefined, path: readonly DescField[]): JsonValue | undefined {
  const [field, ...below] = path;
  if (field === undefined) return json;
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  return valueAt(json[field.jsonName], below);
}
