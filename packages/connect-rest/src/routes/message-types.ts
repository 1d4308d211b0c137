import type { DescField, DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { usedTypes } from "@bufbuild/protobuf/reflect";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";

/**
 * Throws when the messages of a method have no supported JSON form. google.protobuf.Any needs a registry of the types
 * it may contain. A type with a JSON form of its own has no members, so it cannot be the whole body.
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

/**
 * Returns whether the field is one message whose JSON is an object of its fields. Paths may continue into such a field.
 */
export function isNested(field: DescField): field is DescField & { readonly message: DescMessage } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}
