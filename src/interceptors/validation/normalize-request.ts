import { create, type DescField, type DescMethod, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import type { FieldError } from "../../errors.js";
import { FieldBehavior } from "../../gen/google/api/field_behavior_pb.js";
import { pathFields } from "../../operation.js";
import { fieldBehaviorOf, isRemovable } from "../../proto-options.js";
import { isUuid, lowerCaseIds } from "./lower-case-uuids.js";

/**
 * Compiles a function that normalizes a valid request in place, for every transport:
 *
 * - UUIDs become lower case, also in nested messages.
 * - The update mask names each attribute to change, without repetition, in the order of the proto. An absent mask means
 *   every attribute that is set (AIP-134). `expected_version`, identifiers and path fields are not attributes.
 *
 * The function returns an error item if the mask names unknown attributes. It returns another item for each named
 * attribute that has no value and must have one.
 */
export function createNormalizer(method: DescMethod): (message: Message) => FieldError[] {
  const { fields } = method.input;
  const inPath = pathFields(method);
  const changes = lowerCaseIds(method.input, (f) => isUuid(f) || isOpaqueId(f, inPath));
  const mask = fields.find(isFieldMask);
  const maskable = fields.filter(
    (f) => f !== mask && f.name !== "expected_version" && !inPath.has(f.name) && !isIdentifier(f),
  );
  if (changes.length === 0 && mask === undefined) return () => [];
  return (message) => {
    const request = reflect(method.input, message);
    for (const change of changes) change(request);
    return mask === undefined ? [] : normalizeMask(request, mask, maskable);
  };
}

function isFieldMask(field: DescField): boolean {
  return field.fieldKind === "message" && field.message.typeName === FieldMaskSchema.typeName;
}

/** Whether the proto marks the field as an identifier. An update mask can name neither identifiers nor path fields. */
function isIdentifier(field: DescField): boolean {
  return fieldBehaviorOf(field).includes(FieldBehavior.IDENTIFIER);
}

/**
 * Whether the field is an id in the REST path. Such an id is a UUID, even if its proto states no rule. Its letters
 * become lower case, so that two requests are the same if they differ only in the case of these letters.
 */
function isOpaqueId(field: DescField, inPath: ReadonlySet<string>): boolean {
  return inPath.has(field.name) && field.name.endsWith("_id") && field.scalar === ScalarType.STRING;
}

function normalizeMask(request: ReflectMessage, mask: DescField, maskable: readonly DescField[]): FieldError[] {
  const sent = sentPaths(request, mask);
  const named =
    sent === undefined ? maskable.filter((f) => request.isSet(f)) : maskable.filter((f) => sent.has(f.name));
  const paths = named.map((f) => f.name);
  request.set(mask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths })));
  return [
    ...unknownPaths(sent ?? new Set(), maskable, mask),
    ...named.filter((f) => !request.isSet(f) && !canBeEmpty(f)).map(notSet),
  ];
}

function canBeEmpty(field: DescField): boolean {
  return field.fieldKind === "list" || isRemovable(field);
}

function sentPaths(request: ReflectMessage, mask: DescField): Set<string> | undefined {
  if (!request.isSet(mask)) return undefined;
  const { message } = request.get(mask) as ReflectMessage;
  return new Set((message as FieldMask).paths);
}

function unknownPaths(sent: ReadonlySet<string>, maskable: readonly DescField[], mask: DescField): FieldError[] {
  const known = new Set(["expected_version", ...maskable.map((f) => f.name)]);
  if ([...sent].every((path) => known.has(path))) return [];
  const message = `the mask may name ${maskable.map((f) => f.name).join(", ")}`;
  return [{ code: "INVALID_VALUE", field: mask.jsonName, message }];
}

function notSet(field: DescField): FieldError {
  return {
    code: "REQUIRED",
    field: field.jsonName,
    message: "the update mask names this field, so it must have a value",
  };
}
