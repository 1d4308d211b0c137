import { create, type DescField } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { type Fields, setField } from "./json/message-fields.js";
import { isJsonObject, type JsonTree } from "./json/read-json.js";
import type { Route } from "./routes/routes.js";

/**
 * Returns the `update_mask` field (AIP-134) that the transcoder fills: that of a PATCH whose body is the whole message.
 * Only the transcoder sees which members a body has, so callers cannot send this field. Returns undefined for every
 * other route.
 */
export function updateMaskField({ method, httpMethod, body }: Route): DescField | undefined {
  if (httpMethod !== "PATCH" || body !== "message") return undefined;
  const field = method.input.fields.find(({ name }) => name === "update_mask");
  return field?.fieldKind === "message" && field.message.typeName === FieldMaskSchema.typeName ? field : undefined;
}

/**
 * Fills the mask with the proto names of the `candidates` that are members of the body, in the order of the candidates.
 */
export function fillUpdateMask(
  mask: DescField,
  candidates: readonly DescField[],
  tree: JsonTree,
  request: Fields,
): void {
  if (!isJsonObject(tree)) return;
  const paths = candidates.filter(({ jsonName }) => tree.has(jsonName)).map(({ name }) => name);
  setField(request, mask, create(FieldMaskSchema, { paths }));
}
