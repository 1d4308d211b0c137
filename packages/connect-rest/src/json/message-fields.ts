import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/**
 * The properties of a protobuf-es message that store its fields, by local name. A oneof is one property with a `case`.
 */
export type Fields = Record<string, unknown>;

/**
 * Returns the message itself, typed as {@link Fields}. Assigning a property sets the field without a check of the
 * value.
 */
export function fieldsOf(message: Message): Fields {
  return message;
}

/** Sets a field, and the case of its oneof. */
export function setField(target: Fields, field: DescField, value: unknown): void {
  if (field.oneof === undefined) target[field.localName] = value;
  else target[field.oneof.localName] = { case: field.localName, value };
}

/** Returns the local name of the field that is set in the oneof of `field`. Returns undefined if no field is set. */
export function oneofCase(target: Fields, field: DescField): string | undefined {
  if (field.oneof === undefined) return undefined;
  return (target[field.oneof.localName] as { readonly case: string | undefined }).case;
}

/**
 * Returns the value of a field. Returns undefined for a field that tracks presence and is not set. Lists and maps are
 * never undefined.
 */
export function heldValue(fields: Fields, field: DescField): unknown {
  if (field.oneof !== undefined) return oneofValue(fields, field);
  const value = fields[field.localName];
  return field.presence === FeatureSet_FieldPresence.IMPLICIT || Object.hasOwn(fields, field.localName)
    ? value
    : undefined;
}

/** Returns the message in a singular field. If the field is not set, sets it to an empty message. */
export function childFields(target: Fields, field: DescField & { readonly message: DescMessage }): Fields {
  const held = field.oneof === undefined ? target[field.localName] : oneofValue(target, field);
  if (held !== undefined) return held as Fields;
  const child = fieldsOf(create(field.message));
  setField(target, field, child);
  return child;
}

function oneofValue(target: Fields, field: DescField): unknown {
  if (field.oneof === undefined || oneofCase(target, field) !== field.localName) return undefined;
  return (target[field.oneof.localName] as { readonly value: unknown }).value;
}
