import type { DescField, DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { usedTypes } from "@bufbuild/protobuf/reflect";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";

/**
 * Throws where a method's messages have no JSON that can be read or written here: google.protobuf.Any needs a registry of
 * the types it may hold, and a request whose whole body is a type with a JSON form of its own has no members.
 */
export function checkTypes({ input, output }: Pick<DescMethodUnary, "input" | "output">, body: unknown): void {
  for (const schema of [input, output]) {
    if ([schema, ...usedTypes(schema)].some(({ typeName }) => typeName === "google.protobuf.Any")) {
      throw new Error(`${schema.typeName} uses google.protobuf.Any, which REST does not support`);
    }
  }
  if (body === "message" && hasCustomJsonRepresentation(input)) {
    throw new Error(`${input.typeName} cannot be the whole body of a request`);
  }
}

/** Whether the field holds one message whose JSON is an object of its fields, so that a path can go on into it. */
export function isNested(field: DescField): field is DescField & { readonly message: DescMessage } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}
