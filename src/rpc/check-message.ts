import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import {
  type FieldPath,
  type Fields,
  fieldStep,
  fieldsOf,
  heldValue,
  indexStep,
  keyStep,
  readString,
  setField,
  type Violations,
} from "@cupo/connect-rest/strict-json";
import { type Check, wellKnownCheck } from "./check-well-known.js";

type Compiled = Map<DescMessage, Check>;

const keepAll: Check = () => true;

/**
 * Returns a function that checks messages decoded from protobuf's binary form. It adds a violation for each of these
 * values, which the reader of JSON rejects but the decoder of the binary form accepts:
 * - strings with U+0000
 * - Timestamps and Durations out of range
 * - FieldMask paths that are not field names
 *
 * The function also removes an invalid Timestamp, Duration, FieldMask or StringValue, so that no later check reads it.
 * It keeps invalid items of lists and maps. `createMessageCheck` throws for google.protobuf.Any, Struct, Value and
 * ListValue, because these types cannot be checked.
 */
export function createMessageCheck(schema: DescMessage): (message: Message, violations: Violations) => void {
  const check = messageCheck(schema, new Map());
  return (message, violations) => void check(message, undefined, violations);
}

function messageCheck(schema: DescMessage, compiled: Compiled): Check {
  const known = compiled.get(schema) ?? wellKnownCheck(schema);
  if (known !== undefined) return known;
  const members: ((fields: Fields, parent: FieldPath | undefined, violations: Violations) => void)[] = [];
  const check: Check = (message, at, violations) => {
    for (const member of members) member(fieldsOf(message as Message), at, violations);
    return true;
  };
  compiled.set(schema, check);
  for (const field of schema.fields) {
    const ofField = fieldCheck(field, compiled);
    if (ofField === keepAll) continue;
    const step = fieldStep(field);
    members.push((fields, parent, violations) => {
      const value = heldValue(fields, field);
      if (value === undefined || ofField(value, { parent, step }, violations)) return;
      if (field.fieldKind === "message") setField(fields, field, undefined);
    });
  }
  return check;
}

function fieldCheck(field: DescField, compiled: Compiled): Check {
  const ofItem = itemCheck(field, compiled);
  if (field.fieldKind === "map") return mapCheck(field.mapKey === ScalarType.STRING ? readsAsString : keepAll, ofItem);
  if (ofItem === keepAll || field.fieldKind !== "list") return ofItem;
  return (items, parent, violations) => {
    const unfit = (items as unknown[]).filter(
      (item, index) => !ofItem(item, { parent, step: indexStep(index) }, violations),
    );
    return unfit.length === 0;
  };
}

function mapCheck(ofKey: Check, ofItem: Check): Check {
  if (ofKey === keepAll && ofItem === keepAll) return keepAll;
  return (entries, parent, violations) => {
    const unfit = Object.entries(entries as Fields).filter(([key, item], order) => {
      const at = { parent, step: keyStep(key, order) };
      return !ofKey(key, at, violations) || !ofItem(item, at, violations);
    });
    return unfit.length === 0;
  };
}

function itemCheck(field: DescField, compiled: Compiled): Check {
  if (field.message === undefined) return field.scalar === ScalarType.STRING ? readsAsString : keepAll;
  const isUnwrapped = field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
  if (isUnwrapped) return field.message.fields[0]?.scalar === ScalarType.STRING ? readsAsString : keepAll;
  return messageCheck(field.message, compiled);
}

function readsAsString(value: unknown, at: FieldPath | undefined, violations: Violations): boolean {
  return readString(value as string, at, violations) !== undefined;
}
