import {
  type DescField,
  type DescMessage,
  getExtension,
  getOption,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldOption,
  type StringRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import * as fc from "fast-check";
import * as rules from "../../src/gen/cupo/options/v1/rules_pb.js";
import { type Draft, type DraftMembers, Pending } from "./pending.js";

/** Contained in every free text of the requests. Its letters are valid in names, codes, documents and addresses. */
export const MARKER = "Qwxzyvbk";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const HIGHEST = 2 ** 31 - 1;
/** Dates that often cause errors in calendars and databases. */
const ODD_DAYS = ["0001-01-01", "1582-10-10", "1969-12-31", "2000-02-29", "2038-01-19", "9999-12-31"];
const ODD_MOMENTS = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"];

/**
 * Generates messages that satisfy the rules of single fields. `owner` is the full name of a member `id`. There are no
 * update masks: without one, an update applies to the members that are present.
 */
export function goodMembers(message: DescMessage, owner = ""): fc.Arbitrary<DraftMembers> {
  const fields = message.fields.filter((field) => field.message?.typeName !== "google.protobuf.FieldMask");
  const values = fields.map((field) => [field.jsonName, goodValue(field, owner)] as const);
  const required = fields.filter((field) => rulesOf(field).required).map(({ jsonName }) => jsonName);
  return fc.record(Object.fromEntries(values), { requiredKeys: required });
}

function goodValue(field: DescField, owner: string): fc.Arbitrary<Draft> {
  const own = rulesOf(field);
  const name = field.jsonName === "id" ? owner : field.jsonName;
  if (field.fieldKind !== "list") return goodItem(field, name, own);
  const list = own.type.case === "repeated" ? own.type.value : undefined;
  const isUuids = list !== undefined && getExtension(list, rules.uuids);
  const item = isUuids ? ids(name.replace(/s$/, "")) : goodItem(field, name, list?.items ?? own);
  const minLength = Number(list?.minItems ?? 0n);
  return fc.uniqueArray(item, {
    minLength,
    maxLength: Math.max(minLength, 3),
    selector: (value) => fc.stringify(value),
  });
}

function goodItem(field: DescField, name: string, own: FieldRules): fc.Arbitrary<Draft> {
  if (field.message !== undefined) return goodMessage(field.message, name);
  if (field.enum !== undefined) {
    const names = field.enum.values.filter(({ number }) => number !== 0).map((value) => value.name);
    return fc.constantFrom(...names);
  }
  if (field.scalar === ScalarType.BOOL) return fc.boolean();
  if (field.scalar === ScalarType.STRING)
    return goodText(name, own.type.case === "string" ? own.type.value : undefined);
  return goodInteger(name, own);
}

function goodMessage(message: DescMessage, name: string): fc.Arbitrary<Draft> {
  if (message.typeName !== "google.protobuf.Timestamp") return goodMembers(message, name);
  const [first, last] = daysOf(name);
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: first * DAY_MINUTES, max: last * DAY_MINUTES }).map(momentIn) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_MOMENTS) },
  );
}

function goodInteger(name: string, { type }: FieldRules): fc.Arbitrary<Draft> {
  if (name === "expectedVersion") return fc.oneof(fc.constantFrom(1, 1, 2, 3), heardOf(name, 1));
  const { greaterThan, lessThan } = type.case === "int32" ? type.value : {};
  const least = greaterThan?.case === "gte" ? greaterThan.value : 1;
  const most = lessThan?.case === "lte" ? lessThan.value : HIGHEST;
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }) },
    { weight: 1, arbitrary: fc.constantFrom(least, most) },
  );
}

function goodText(name: string, own: StringRules | undefined): fc.Arbitrary<Draft> {
  if (own === undefined ? name.endsWith("Id") : own.wellKnown.case === "uuid") return ids(name);
  if (/token$|cursor$/i.test(name)) return heardOf(name, "");
  if (own === undefined) return sentences(200);
  if (getExtension(own, rules.local_date)) return days(name);
  if (getExtension(own, rules.local_time)) return times(name);
  if (getExtension(own, rules.mailbox) > 0) return fc.nat().map((n) => `${MARKER.toLowerCase()}${n}@example.com`);
  if (getExtension(own, rules.phone) > 0) return fc.nat().map((n) => `60155${n} ${MARKER}`);
  if (getExtension(own, rules.document_type) > 0) return fc.constantFrom("CC", "TI", "PASSPORT", MARKER);
  if (getExtension(own, rules.document_number) > 0) return fc.nat().map((n) => `${n} ${MARKER}`);
  return sentences(lengthOf(own), getExtension(own, rules.unmistakable));
}

function lengthOf(own: StringRules): number {
  return Math.max(getExtension(own, rules.line), getExtension(own, rules.paragraph), Number(own.maxLen));
}

/** Generates texts with the marker, some of the maximum length. */
function sentences(most: number, isPlain = false): fc.Arbitrary<Draft> {
  const whole = (text: string) => Array.from(`${MARKER} ${text}`).slice(0, most).join("").trim();
  const any = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => whole(text.replace(/[\p{C}\p{Z}]/gu, "x")));
  return fc.oneof(
    { weight: 4, arbitrary: fc.nat({ max: 9_999 }).map((n) => whole(String(n))) },
    { weight: isPlain ? 0 : 2, arbitrary: any },
    { weight: 1, arbitrary: fc.constant(MARKER.repeat(most).slice(0, most || 200)) },
  );
}

function ids(name: string): fc.Arbitrary<Draft> {
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(fc.nat({ max: 5 }), fc.uuid()).map(([number, other]) => known(name, number, other)),
    },
    { weight: 1, arbitrary: fc.uuid() },
  );
}

/** Returns the range of days for a member, from today. The end of a period gets later days than its start. */
function daysOf(name: string): readonly [first: number, last: number] {
  if (/From$|^starts/.test(name)) return [-3, 6];
  return /To$|^ends/.test(name) ? [6, 20] : [-3, 20];
}

function days(name: string): fc.Arbitrary<Draft> {
  const [min, max] = daysOf(name);
  return fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min, max }).map(dayIn) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_DAYS) },
  );
}

function times(name: string): fc.Arbitrary<Draft> {
  const late = fc.constantFrom("12:00", "17:30:00", "23:59:59");
  return name.startsWith("ends") ? late : fc.oneof(fc.constantFrom("00:00", "08:00", "11:30:00"), late);
}

function heardOf(name: string, other: JsonValue): fc.Arbitrary<Draft> {
  return fc.nat({ max: 9 }).map((number) => known(name, number, other));
}

function known(name: string, number: number, other: JsonValue): Pending {
  return new Pending(`${name} ${number}`, (context) => context.known(name, number) ?? other);
}

function momentIn(minutes: number): Pending {
  return new Pending(`in ${minutes} minutes`, ({ now }) => new Date(now() + minutes * MINUTE_MS).toISOString());
}

function dayIn(fromNow: number): Pending {
  const textOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return new Pending(`in ${fromNow} days`, ({ now }) => textOf(now() + (fromNow * DAY_MINUTES - 5 * 60) * MINUTE_MS));
}

function rulesOf(field: DescField): FieldRules {
  return getOption(field, fieldOption);
}
