import type { DescField, DescMessage, DescMethod, Registry } from "@bufbuild/protobuf";
import { AnySchema, hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";

/** Whether a message is sent as raw bytes, without JSON (google/api/httpbody.proto). */
export function isHttpBody(schema: DescMessage | undefined): boolean {
  return schema?.typeName === "google.api.HttpBody";
}

/** The parts of a binding that decide which types have a JSON form. */
export interface BoundTypes {
  readonly method: Pick<DescMethod, "input" | "output">;
  readonly body: "none" | "message" | DescField;
  readonly responseBody: DescField | undefined;
}

/**
 * Throws when the messages of a binding have no supported JSON form. google.protobuf.Any needs a registry of the types
 * it may contain; a google.api.HttpBody that is a whole body needs none. A type with a JSON form of its own has no
 * members, so it cannot be the whole body.
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
 * Returns whether the field is one message whose JSON is an object of its fields. Paths may continue into such a field.
 */
export function isNested(field: DescField): field is DescField & { readonly message: DescMessage } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" ? field.message : undefined;
}

/** Returns whether a message uses google.protobuf.Any, except in the type `raw`. */
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
