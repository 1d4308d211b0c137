import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/** The properties of a message in which protobuf-es stores its fields, by local name. */
export type Fields = Record<string, unknown>;

/** Returns the properties of a message. Writing one sets the field without a check of the value. */
export function fieldsOf(message: Message): Fields {
  return message;
}

/** Sets a field, and the case of its oneof. */
export function setField(target: Fields, field: DescField, value: unknown): void {
  if (field.oneof === undefined) target[field.localName] = value;
  else target[field.oneof.localName] = { case: field.localName, value };
}

/** Returns the local name of the member that is set in the field's oneof, or undefined when there is none. */
export function oneofCase(target: Fields, field: DescField): string | undefined {
  if (field.oneof === undefined) return undefined;
  return (target[field.oneof.localName] as { readonly case: string | undefined }).case;
}

/**
 * Returns the value of a field. A field with presence that is not set is undefined. Lists and maps are never undefined.
 */
export function heldValue(fields: Fields, field: DescField): unknown {
  if (field.oneof !== undefined) return oneofValue(fields, field);
  const value = fields[field.localName];
  return field.presence === FeatureSet_FieldPresence.IMPLICIT || Object.hasOwn(fields, field.localName)
    ? value
    : undefined;
}

/** Returns the message in a singular field. Creates an empty one when the field is not set. */
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
