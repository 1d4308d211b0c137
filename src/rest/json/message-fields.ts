import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/** A message as the plain properties that protobuf-es keeps its fields in, under their local names. */
export type Fields = Record<string, unknown>;

/** The properties of a message; writing one is writing the field. Whoever writes has checked the value. */
export function fieldsOf(message: Message): Fields {
  return message;
}

/** Sets a field, and with it the case of its oneof. */
export function setField(target: Fields, field: DescField, value: unknown): void {
  if (field.oneof === undefined) target[field.localName] = value;
  else target[field.oneof.localName] = { case: field.localName, value };
}

/** The local name of the member that is set in the field's oneof; undefined where there is none. */
export function oneofCase(target: Fields, field: DescField): string | undefined {
  if (field.oneof === undefined) return undefined;
  return (target[field.oneof.localName] as { readonly case: string | undefined }).case;
}

/** The value that a field has: undefined where it has presence and is not set; a list or map that is never left out. */
export function heldValue(fields: Fields, field: DescField): unknown {
  if (field.oneof !== undefined) return oneofValue(fields, field);
  const value = fields[field.localName];
  return field.presence === FeatureSet_FieldPresence.IMPLICIT || Object.hasOwn(fields, field.localName)
    ? value
    : undefined;
}

/** The message in a singular field; where there is none yet, an empty one is put there. */
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
