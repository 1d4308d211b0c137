/**
 * Cases of unknown names and of writing, after protobuf's conformance suite for ProtoJSON, with messages of our own.
 */
import type { Difference } from "../difference.js";
import type { Group } from "./group.js";

/** JSON with unknown names. `ignoreUnknownFields` allows it. The canonical form is that of the message. */
export const ignored: readonly (readonly [message: Group["message"], json: string, canonical: object])[] = [
  ["Kinds", '{"nope":1}', {}],
  ["Kinds", '{"nope":"a"}', {}],
  ["Kinds", '{"nope":true,"i32":1}', { i32: 1 }],
  ["Kinds", '{"nope":false}', {}],
  ["Kinds", '{"nope":null}', {}],
  ["Kinds", '{"nope":{"a":1},"child":{"nope":[]}}', { child: {} }],
  ["Kinds", '{"genre":"NOPE"}', {}],
  ["Aliases", '{"colours":["BLUE"]}', {}],
  ["Aliases", '{"colours":["GREY","BLUE","GRAY"]}', { colours: ["GREY", "GREY"] }],
  ["Aliases", '{"byName":{"a":"BLUE"}}', {}],
  ["Aliases", '{"byName":{"a":"GREY","b":"BLUE"}}', { byName: { a: "GREY" } }],
  [
    "Envelope",
    '{"content":{"@type":"type.googleapis.com/library.v1.Kinds","nope":1}}',
    { content: { "@type": "type.googleapis.com/library.v1.Kinds" } },
  ],
];

/** Values of fields that cannot be written as ProtoJSON. */
export const unwritable: readonly (readonly [about: string, field: string, value: unknown])[] = [
  ["a Timestamp before the year 1", "at", { seconds: -62135596801n, nanos: 0 }],
  ["a Timestamp after the year 9999", "at", { seconds: 253402300800n, nanos: 0 }],
  ["a Timestamp with negative nanoseconds", "at", { seconds: 5000n, nanos: -1 }],
  ["a Timestamp with a second of nanoseconds", "at", { seconds: 5000n, nanos: 1000000000 }],
  ["a Duration that is too long", "lasts", { seconds: 315576000001n, nanos: 0 }],
  ["a Duration that is too short", "lasts", { seconds: -315576000001n, nanos: 0 }],
  ["a Duration with two signs", "lasts", { seconds: 1n, nanos: -1 }],
  ["a negative Duration with two signs", "lasts", { seconds: -1n, nanos: 1 }],
  ["a Duration with a second of nanoseconds", "lasts", { seconds: 1n, nanos: 1000000000 }],
  ["a field mask that does not come back", "mask", { paths: ["fooBar"] }],
  ["a field mask with a digit after an underscore", "mask", { paths: ["foo_3_bar"] }],
  ["a field mask with two underscores", "mask", { paths: ["foo__bar"] }],
  ["a Value that is not a number", "value", { kind: { case: "numberValue", value: Number.NaN } }],
  ["a Value that is infinite", "value", { kind: { case: "numberValue", value: Number.POSITIVE_INFINITY } }],
];

/** Cases in which we differ from the suite. */
export const different: readonly (readonly [about: string, json: string, difference: Difference, canonical: object])[] =
  [["refused as invalid by the suite", '{"mask":"foo,bar_baz"}', "mask-in-snake-case", { mask: "foo,barBaz" }]];
