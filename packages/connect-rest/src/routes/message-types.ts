import type { DescField, DescMessage, DescMethod, Registry } from "@bufbuild/protobuf";
import { AnySchema, hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";

/** Returns whether a message is sent as raw bytes, not as JSON (google/api/httpbody.proto). */
export function isHttpBody(schema: DescMessage | undefined): boolean {
  return schema?.typeName === "google.api.HttpBody";
}

/** The parts of a binding that {@link checkTypes} needs. */
export interface BoundTypes {
  readonly method: Pick<DescMethod, "input" | "output">;
  readonly body: "none" | "message" | DescField;
  readonly responseBody: DescField | undefined;
}

/**
 * Throws if a message of a binding cannot be converted from or to JSON:
 * - A message with google.protobuf.Any needs a registry of the types that Any may contain. A google.api.HttpBody that
 *   is a whole body needs no registry, because it is not JSON.
 * - A request message with a special JSON form, such as Timestamp, has no members, so it cannot be the whole body.
 */
export function checkTypes({ method, body, responseBody }: BoundTypes, registry: Registry | undefined): void {
  const { input, output } = method;
  if (body === "message" && hasCustomJsonRepresentation(input)) {
    throw new Error(`${input.typeName} cannot be the whole body of a request`);
  }
  if (registry !== undefined) return;
  const rawInput = body === "message" ? input : typeof body === "string" ? undefined : messageOf(body);
  const rawOutput = responseBody === undefined ? output : messageOf(responseBody);
  for (const [schema, whole] of [
    [input, rawInput],
    [output, rawOutput],
  ] as const) {
    if (usesAny(schema, isHttpBody(whole) ? whole : undefined)) {
      throw new Error(`${schema.typeName} uses google.protobuf.Any, which needs a registry of types`);
    }
  }
}

/**
 * Returns whether the field is a singular message whose JSON is an object of its fields. A path can continue into such
 * a field.
 */
export function isNested(field: DescField): field is DescField & { readonly message: DescMessage } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" ? field.message : undefined;
}

/**
 * Returns whether a message uses google.protobuf.Any, directly or in a nested message. Does not look into the type
 * `raw`.
 */
function usesAny(schema: DescMessage, raw: DescMessage | undefined): boolean {
  if (schema === raw) return false;
  const seen = new Set<DescMessage | undefined>([undefined, raw, schema]);
  const open = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.typeName === AnySchema.typeName) return true;
    for (const { message } of next.fields) {
      if (message === undefined || seen.has(message)) continue;
      seen.add(message);
      open.push(message);
    }
  }
  return false;
}
