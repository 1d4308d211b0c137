import { create, type DescField } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import type { JsonProfile } from "./json/json-profile.js";
import { type Fields, heldValue, setField } from "./json/message-fields.js";
import { isJsonObject, type JsonTree } from "./json/read-json.js";
import type { Route } from "./routes/routes.js";

/**
 * Returns the `update_mask` field (AIP-134) of a PATCH whose body is the whole message. Returns undefined if the
 * message has no such field, and for every other route. The handler fills this field from the members of the body, so
 * callers need not send it. In the strict profile they cannot send it.
 */
export function updateMaskField({ method, httpMethod, body }: Route): DescField | undefined {
  if (httpMethod !== "PATCH" || body !== "message") return undefined;
  const field = method.input.fields.find(({ name }) => name === "update_mask");
  return field?.fieldKind === "message" && field.message.typeName === FieldMaskSchema.typeName ? field : undefined;
}

/** Fills the mask of a request whose body is the whole message. */
export type FillUpdateMask = (tree: JsonTree, request: Fields) => void;

/**
 * Compiles a function that fills a mask. The mask gets the proto names of those `candidates` that are members of the
 * body, in the order of `candidates`. The function does nothing if the body is not an object or the request already has
 * a mask.
 */
export function updateMaskFiller(
  mask: DescField,
  candidates: readonly DescField[],
  { memberNames }: JsonProfile,
): FillUpdateMask {
  const named = candidates.map((field) => ({ name: field.name, memberNames: memberNames(field) }));
  return (tree, request) => {
    if (!isJsonObject(tree) || heldValue(request, mask) !== undefined) return;
    const members = named.filter((each) => each.memberNames.some((name) => tree.has(name)));
    setField(request, mask, create(FieldMaskSchema, { paths: members.map(({ name }) => name) }));
  };
}
