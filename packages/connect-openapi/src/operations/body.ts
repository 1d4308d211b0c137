import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { OperationParts, RequestExample } from "../options.js";
import type { OpenApiRoute } from "../route.js";
import type { MessageSchemas } from "../schemas/message-schemas.js";
import type { FieldPath } from "../schemas/schema-context.js";
import { valueAt } from "./parameters.js";

/** The OpenAPI `content` of a google.api.HttpBody: any bytes of any media type. */
const ANY_BYTES: JsonObject = { "*/*": { schema: {} } };

/** Returns the OpenAPI `requestBody` of a route, or undefined if the route has no body. */
export function requestBody(
  route: OpenApiRoute,
  schemas: MessageSchemas,
  examples: Readonly<Record<string, RequestExample>>,
): JsonObject | undefined {
  const { body, method } = route;
  if (body === "none") return undefined;
  const inPath = route.variables.map(({ fields }) => fields);
  const message = body === "message" ? method.input : body.message;
  if (isHttpBody(message)) return { required: true, content: ANY_BYTES };
  const mask = updateMaskField(route);
  const excluded = body === "message" ? [...inPath, ...(mask === undefined ? [] : [[mask]])] : belowField(inPath, body);
  const schema =
    body === "message"
      ? schemas.refer(method.input, "request", excluded)
      : fieldBody(body, "request", schemas, excluded);
  const values = Object.entries(examples).map(([name, { value, ...example }]) => {
    const members = body === "message" ? value : (valueAt(value, [body]) ?? {});
    return [name, { ...example, value: without(members, excluded) }];
  });
  const described = { schema, ...(values.length === 0 ? {} : { examples: Object.fromEntries(values) }) };
  return { required: true, content: { "application/json": described } };
}

/** Returns the OpenAPI response to a request that succeeds. */
export function successResponse(
  route: OpenApiRoute,
  schemas: MessageSchemas,
  headers: OperationParts["responseHeaders"],
): JsonObject {
  const { responseBody, method } = route;
  return {
    description: schemas.comment(responseBody ?? method.output) ?? "The request succeeded.",
    ...(headers === undefined ? {} : { headers }),
    content: successContent(route, schemas),
  };
}

function successContent({ method, responseBody }: OpenApiRoute, schemas: MessageSchemas): JsonObject {
  if (isHttpBody(responseBody === undefined ? method.output : responseBody.message)) return ANY_BYTES;
  const schema =
    responseBody === undefined ? schemas.refer(method.output, "response") : responseField(responseBody, schemas);
  return method.methodKind === "server_streaming" ? streamContent(schema) : { "application/json": { schema } };
}

/**
 * Returns the schema of a response body that consists of one field. If the field can be absent, the body is `null`
 * then.
 */
function responseField(field: DescField, schemas: MessageSchemas): JsonObject {
  const schema = fieldBody(field, "response", schemas, []);
  const isAlwaysSet = field.presence === FeatureSet_FieldPresence.IMPLICIT || schemas.isRequired(field, "response");
  return isAlwaysSet ? schema : { anyOf: [schema, { type: "null" }] };
}

/**
 * Returns the `content` of a stream of `@cupo/connect-rest`: NDJSON, with one line for each message, or server-sent
 * events. OpenAPI 3.1 has no keyword for a body of many messages. So the schema of NDJSON describes one line instead of
 * the body, and the schema of server-sent events allows any text.
 */
function streamContent(schema: JsonObject): JsonObject {
  const line = {
    type: "object",
    description: "One line: a message, or the error that ended the stream.",
    properties: { result: schema, error: {} },
  };
  return { "application/x-ndjson": { schema: line }, "text/event-stream": { schema: { type: "string" } } };
}

/**
 * Returns the `update_mask` field (AIP-134) of a PATCH whose body is the whole message. Returns undefined for other
 * routes, and if the message has no such field. The server fills this field from the members of the body, so callers
 * need not send it and the document does not show it.
 */
function updateMaskField({ method, httpMethod, body }: OpenApiRoute): DescField | undefined {
  if (httpMethod !== "PATCH" || body !== "message") return undefined;
  const field = method.input.fields.find(({ name }) => name === "update_mask");
  return field?.message?.typeName === "google.protobuf.FieldMask" ? field : undefined;
}

/**
 * Returns the schema of a body that consists of one field. For a singular field of a message type, returns the schema
 * of the message or a reference to it, without the comment of the field.
 */
function fieldBody(
  field: DescField,
  direction: "request" | "response",
  schemas: MessageSchemas,
  excluded: readonly FieldPath[],
): JsonObject {
  if (field.fieldKind === "message") return schemas.refer(field.message, direction, excluded);
  return schemas.ofField(field, direction, excluded);
}

function isHttpBody(message: DescMessage | undefined): boolean {
  return message?.typeName === "google.api.HttpBody";
}

function belowField(paths: readonly FieldPath[], body: DescField): FieldPath[] {
  return paths.filter(([first]) => first === body).map((path) => path.slice(1));
}

function without<T extends JsonObject[string]>(json: T, excluded: readonly FieldPath[]): T | JsonObject {
  if (excluded.length === 0 || typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const members = Object.entries(json).flatMap(([name, value]) => {
    const within = excluded.filter(([first]) => first?.jsonName === name).map((path) => path.slice(1));
    return within.some((path) => path.length === 0) ? [] : [[name, without(value, within)] as const];
  });
  return Object.fromEntries(members);
}
