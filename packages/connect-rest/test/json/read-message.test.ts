import { create, type DescField, fromJsonString, toJson, toJsonString } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldsOf } from "../../src/json/message-fields.js";
import { readJson } from "../../src/json/read-json.js";
import { createMessageReader } from "../../src/json/read-message.js";
import { noViolations } from "../../src/violations/collect-violations.js";
import { listViolations } from "../../src/violations/list-violations.js";
import type { Violation } from "../../src/violations/violation.js";
import { type Kinds, KindsSchema } from "../gen/library/v1/library_pb.js";
import { kinds } from "../support/arbitrary-kinds.js";

const readKinds = createMessageReader(KindsSchema);

describe("accepts", () => {
  test.each([
    ['{"i32":5.0}', { i32: 5 }],
    ['{"i32":5e0}', { i32: 5 }],
    ['{"i32":50e-1}', { i32: 5 }],
    ['{"i32":0.5e1}', { i32: 5 }],
    ['{"i32":-0}', { i32: 0 }],
    ['{"i32":-0.0e9}', { i32: 0 }],
    ['{"i32":0e99999999999}', { i32: 0 }],
    [
      '{"i32":2147483647,"s32":-2147483648,"sf32":-2147483648}',
      { i32: 2147483647, s32: -2147483648, sf32: -2147483648 },
    ],
    ['{"u32":4294967295,"f32":4294967295}', { u32: 4294967295, f32: 4294967295 }],
    ['{"i64":9223372036854775807}', { i64: 9223372036854775807n }],
    ['{"i64":-9223372036854775808.0}', { i64: -9223372036854775808n }],
    ['{"i64":"-9223372036854775808"}', { i64: -9223372036854775808n }],
    ['{"u64":18446744073709551615}', { u64: 18446744073709551615n }],
    ['{"u64":1.8446744073709551615e19}', { u64: 18446744073709551615n }],
    ['{"longText":9007199254740993}', { longText: "9007199254740993" }],
    ['{"flag":false,"optI32":0,"optText":""}', { optI32: 0, optText: "" }],
    [
      '{"single":3.4028234663852886e38,"real":1.7976931348623157e308}',
      { single: 3.4028234663852886e38, real: 1.7976931348623157e308 },
    ],
    ['{"single":0.1}', { single: Math.fround(0.1) }],
    ['{"real":"NaN","single":"-Infinity"}', { real: Number.NaN, single: Number.NEGATIVE_INFINITY }],
    ['{"data":"AQI="}', { data: new Uint8Array([1, 2]) }],
    ['{"genre":"ESSAY"}', { genre: 2 }],
    ['{"numbers":[],"counts":{},"addresses":[{}]}', { addresses: [{}] }],
    ['{"counts":{"":1,"toString":2}}', { counts: { "": 1, toString: 2 } }],
    [
      '{"places":{"-9223372036854775808":{"city":"x"}},"genres":{"true":"NOVEL"}}',
      { places: { "-9223372036854775808": { city: "x" } }, genres: { true: 1 } },
    ],
    ['{"number":"7"}', { choice: { case: "number" as const, value: 7n } }],
    ['{"wrappedChoice":"x"}', { choice: { case: "wrappedChoice" as const, value: { value: "x" } } }],
    ['{"at":"2026-02-28T23:59:59.123456789-05:00"}', { at: { seconds: 1772341199n, nanos: 123456789 } }],
    ['{"at":"2024-02-29t00:00:00z"}', { at: { seconds: 1709164800n, nanos: 0 } }],
    ['{"at":"0001-01-01T00:00:00Z"}', { at: { seconds: -62135596800n, nanos: 0 } }],
    ['{"at":"9999-12-31T23:59:59.9Z"}', { at: { seconds: 253402300799n, nanos: 900000000 } }],
    ['{"at":"1969-12-31T23:59:59.5Z"}', { at: { seconds: -1n, nanos: 500000000 } }],
    ['{"lasts":"-1.5s"}', { lasts: { seconds: -1n, nanos: -500000000 } }],
    ['{"lasts":"315576000000s"}', { lasts: { seconds: 315576000000n, nanos: 0 } }],
    ['{"lasts":"315576000000.999999999s"}', { lasts: { seconds: 315576000000n, nanos: 999999999 } }],
    ['{"lasts":"-315576000000.999999999s"}', { lasts: { seconds: -315576000000n, nanos: -999999999 } }],
    ['{"lasts":"-0.5s"}', { lasts: { seconds: 0n, nanos: -500000000 } }],
    ['{"lasts":"0.000000001s"}', { lasts: { seconds: 0n, nanos: 1 } }],
    ['{"lasts":"-0s"}', { lasts: { seconds: 0n, nanos: 0 } }],
    ['{"mask":"*"}', { mask: { paths: ["*"] } }],
    ['{"mask":"a.*.fooBar"}', { mask: { paths: ["a.*.foo_bar"] } }],
    ['{"mask":"a.fooBar,b2"}', { mask: { paths: ["a.foo_bar", "b2"] } }],
    ['{"mask":""}', { mask: { paths: [] } }],
    [
      '{"wrappedText":"","wrappedLong":"5","wrappedFlag":false}',
      { wrappedText: "", wrappedLong: 5n, wrappedFlag: false },
    ],
    ['{"struct":{"a":[1,null,{"b":"c"}]}}', { struct: { a: [1, null, { b: "c" }] } }],
    ['{"nothing":null,"empty":{}}', { nothing: 0, empty: {} }],
    ['{"child":{"child":{"id":"x"}}}', { child: { child: { id: "x" } } }],
  ])("%s", (text, init) => {
    const { message, violations } = read(text);
    expect(violations).toEqual([]);
    expect(message).toEqual(create(KindsSchema, init));
  });

  test("any JSON in a Value", () => {
    const { message, violations } = read('{"value":null,"values":[null,1,[{"a":null}]],"list":[true]}');
    expect(violations).toEqual([]);
    expect(toJson(KindsSchema, message)).toEqual({ value: null, values: [null, 1, [{ a: null }]], list: [true] });
  });
});

describe("rejects", () => {
  test.each([
    ["[]", "INVALID_TYPE "],
    ['"x"', "INVALID_TYPE "],
    ["null", "INVALID_TYPE "],
    ['{"optText":null}', "INVALID_TYPE optText"],
    ['{"numbers":null}', "INVALID_TYPE numbers"],
    ['{"child":null}', "INVALID_TYPE child"],
    ['{"wrappedText":null}', "INVALID_TYPE wrappedText"],
    ['{"opt_text":"x"}', "UNKNOWN_FIELD opt_text"],
    ['{"nope":1}', "UNKNOWN_FIELD nope"],
    ['{"":1}', "UNKNOWN_FIELD "],
    [
      '{"__proto__":{},"constructor":1,"toString":1}',
      "UNKNOWN_FIELD __proto__, UNKNOWN_FIELD constructor, UNKNOWN_FIELD toString",
    ],
    ['{"choice":"x"}', "UNKNOWN_FIELD choice"],
    ['{"[test.ext]":1}', "UNKNOWN_FIELD [test.ext]"],
    ['{"id":5}', "INVALID_TYPE id"],
    ['{"id":["x"]}', "INVALID_TYPE id"],
    ['{"id":"a\\u0000"}', "INVALID_VALUE id"],
    ['{"id":"\\ud800x"}', "INVALID_VALUE id"],
    ['{"id":"\\udc00\\ud800"}', "INVALID_VALUE id"],
    ['{"flag":"true"}', "INVALID_TYPE flag"],
    ['{"flag":1}', "INVALID_TYPE flag"],
    ['{"i32":"5"}', "INVALID_TYPE i32"],
    ['{"i32":5.5}', "INVALID_TYPE i32"],
    ['{"i32":5e-1}', "INVALID_TYPE i32"],
    ['{"i32":1e-99999999999}', "INVALID_TYPE i32"],
    ['{"i32":true}', "INVALID_TYPE i32"],
    ['{"i32":[5]}', "INVALID_TYPE i32"],
    ['{"i32":2147483648}', "OUT_OF_RANGE i32"],
    ['{"i32":1e99999999999}', "OUT_OF_RANGE i32"],
    ['{"s32":-2147483649,"sf32":-2147483649}', "OUT_OF_RANGE s32, OUT_OF_RANGE sf32"],
    ['{"u32":-1,"f32":4294967296}', "OUT_OF_RANGE u32, OUT_OF_RANGE f32"],
    ['{"i64":9223372036854775808}', "OUT_OF_RANGE i64"],
    ['{"i64":"9223372036854775808"}', "OUT_OF_RANGE i64"],
    ['{"i64":"0x10"}', "INVALID_TYPE i64"],
    ['{"i64":"5.0"}', "INVALID_TYPE i64"],
    ['{"i64":"-0"}', "INVALID_TYPE i64"],
    ['{"i64":" 5"}', "INVALID_TYPE i64"],
    ['{"i64":""}', "INVALID_TYPE i64"],
    ['{"u64":-1}', "OUT_OF_RANGE u64"],
    ['{"longText":"x"}', "INVALID_TYPE longText"],
    ['{"single":3.5e38}', "OUT_OF_RANGE single"],
    ['{"real":1e309}', "OUT_OF_RANGE real"],
    ['{"real":"1"}', "INVALID_TYPE real"],
    ['{"real":"nan"}', "INVALID_TYPE real"],
    ['{"data":"AQI"}', "INVALID_FORMAT data"],
    ['{"data":"AQJ="}', "INVALID_FORMAT data"],
    ['{"data":"_-8="}', "INVALID_FORMAT data"],
    ['{"data":"AQ I="}', "INVALID_FORMAT data"],
    ['{"data":1}', "INVALID_TYPE data"],
    ['{"genre":"novel"}', "INVALID_VALUE genre"],
    ['{"genre":"toString"}', "INVALID_VALUE genre"],
    ['{"genre":1}', "INVALID_TYPE genre"],
    ['{"genre":null}', "INVALID_TYPE genre"],
    ['{"nothing":"x"}', "INVALID_VALUE nothing"],
    ['{"numbers":5}', "INVALID_TYPE numbers"],
    ['{"numbers":{"0":5}}', "INVALID_TYPE numbers"],
    ['{"numbers":[1,"2",3,null]}', "INVALID_TYPE numbers[1], INVALID_TYPE numbers[3]"],
    ['{"addresses":[{"city":1},{"town":"x"}]}', "INVALID_TYPE addresses[0].city, UNKNOWN_FIELD addresses[1].town"],
    ['{"counts":[]}', "INVALID_TYPE counts"],
    ['{"counts":{"a":"b"}}', 'INVALID_TYPE counts["a"]'],
    ['{"counts":{"__proto__":1}}', 'INVALID_VALUE counts["__proto__"]'],
    ['{"places":{"01":{}}}', 'INVALID_TYPE places["01"]'],
    ['{"places":{"9223372036854775808":{}}}', 'OUT_OF_RANGE places["9223372036854775808"]'],
    ['{"genres":{"TRUE":"NOVEL"}}', 'INVALID_TYPE genres["TRUE"]'],
    ['{"text":"a","number":1}', "INVALID_VALUE number"],
    ['{"number":1,"text":"a"}', "INVALID_VALUE text"],
    ['{"text":"a","address":{"nope":1}}', "INVALID_VALUE address"],
    ['{"child":{"child":{"i32":"x"}}}', "INVALID_TYPE child.child.i32"],
    ['{"child":[]}', "INVALID_TYPE child"],
    ['{"empty":{"a":1}}', "UNKNOWN_FIELD empty.a"],
    ['{"at":1}', "INVALID_TYPE at"],
    ['{"lasts":1}', "INVALID_TYPE lasts"],
    ['{"lasts":"1"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"1.s"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"1.0000000001s"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"+1s"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"315576000001s"}', "OUT_OF_RANGE lasts"],
    ['{"lasts":"315576000001.000000000s"}', "OUT_OF_RANGE lasts"],
    ['{"lasts":"1 s"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"1.5"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"-s"}', "INVALID_FORMAT lasts"],
    ['{"lasts":"1e3s"}', "INVALID_FORMAT lasts"],
    ['{"mask":"a.**"}', "INVALID_FORMAT mask"],
    ['{"mask":"*a"}', "INVALID_FORMAT mask"],
    ['{"mask":"a, b"}', "INVALID_FORMAT mask"],
    ['{"lasts":"-315576000001s"}', "OUT_OF_RANGE lasts"],
    ['{"mask":"foo_bar"}', "INVALID_FORMAT mask"],
    ['{"mask":"a,"}', "INVALID_FORMAT mask"],
    ['{"mask":["a"]}', "INVALID_TYPE mask"],
    ['{"struct":[]}', "INVALID_TYPE struct"],
    ['{"struct":{"a":{"b":[1e999]},"c":"\\u0000"}}', 'OUT_OF_RANGE struct["a"]["b"][0], INVALID_VALUE struct["c"]'],
    ['{"list":{}}', "INVALID_TYPE list"],
    ['{"value":{"__proto__":1}}', 'INVALID_VALUE value["__proto__"]'],
    ['{"wrappedTexts":["a",1]}', "INVALID_TYPE wrappedTexts[1]"],
    [
      '{"i32":"x","id":1,"nope":1,"flag":2}',
      "INVALID_TYPE id, INVALID_TYPE flag, INVALID_TYPE i32, UNKNOWN_FIELD nope",
    ],
  ])("%s", (text, expected) => {
    expect(
      read(text)
        .violations.map(({ code, field }) => `${code} ${field}`)
        .join(", "),
    ).toBe(expected);
  });

  test.each([
    "2026-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T23:60:00Z",
    "2026-06-30T23:59:60Z",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00Z",
    "2026-01-01",
    "2026-1-1T00:00:00Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+05:60",
    "2026-01-01T00:00:00+0500",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00,5Z",
    "2026-01-01T00:00:00.1234567890Z",
    "+002026-01-01T00:00:00Z",
    "0000-12-31T23:30:00-01:00",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "2026-01-01T00:00:00Z ",
    "",
    "now",
  ])("the date-time %j", (at) => {
    expect(read(JSON.stringify({ at })).violations.map(({ code }) => code)).toEqual(["INVALID_DATE_TIME"]);
  });

  test("unknown names only truncated and escaped", () => {
    const name = `a\n\u202e😀${"x".repeat(100)}`;
    expect(read(JSON.stringify({ [name]: 1 })).violations[0]?.field).toBe(`a\\u000a\\u202e😀${"x".repeat(60)}`);
    expect(read('{"\\ud800":1}').violations[0]?.field).toBe("\\ud800");
  });

  test("every violation, listing the first hundred and counting the others", () => {
    const { violations } = read(JSON.stringify({ i32: "x", numbers: Array.from({ length: 500 }, () => "x") }));
    expect(violations).toHaveLength(101);
    expect(violations[0]?.field).toBe("i32");
    expect(violations.at(-1)?.message).toBe("401 more errors are not listed");
  });

  test("without repeating the input", () => {
    const { violations } = read('{"id":1234567,"genre":"secret","at":"secret","i32":"secret","data":"secret!"}');
    expect(JSON.stringify(violations)).not.toMatch(/secret|1234567/);
  });
});

describe("a list with a limit", () => {
  const maxItems = (field: DescField) => (field.name === "numbers" ? 2 : undefined);
  const readLimited = createMessageReader(KindsSchema, { maxItems });

  test("is accepted up to it, at any depth", () => {
    const { message, violations } = read('{"numbers":[1,2],"child":{"numbers":[3]}}', readLimited);
    expect(violations).toEqual([]);
    expect(message).toEqual(create(KindsSchema, { numbers: [1, 2], child: { numbers: [3] } }));
  });

  test("is not read if it is longer", () => {
    const { message, violations } = read('{"numbers":["x",2,null],"child":{"numbers":[1,2,3]}}', readLimited);
    expect(message.numbers).toEqual([]);
    expect(violations).toEqual([
      { code: "TOO_MANY", field: "numbers", message: "the list must have at most 2 items" },
      { code: "TOO_MANY", field: "child.numbers", message: "the list must have at most 2 items" },
    ]);
  });
});

test("reads the rest, and keeps the indexes of list items, if there is a violation", () => {
  const { message } = read('{"numbers":[1,"x",3],"addresses":["x",{"city":"y"}],"structs":[1],"id":"z","i32":"w"}');
  expect(message).toEqual(
    create(KindsSchema, { numbers: [1, 0, 3], addresses: [{}, { city: "y" }], structs: [{}], id: "z" }),
  );
});

test("reads back every message as protobuf-es writes it", () => {
  fc.assert(
    fc.property(kinds, (message) => {
      const text = toJsonString(KindsSchema, message);
      const again = read(text);
      expect(again.violations).toEqual([]);
      expect(again.message).toEqual(fromJsonString(KindsSchema, text));
    }),
  );
});

function read(text: string, readInto = readKinds): { message: Kinds; violations: readonly Violation[] } {
  const message = create(KindsSchema);
  const violations = noViolations();
  readInto(readJson(text, 16), fieldsOf(message), undefined, violations);
  return { message, violations: listViolations(KindsSchema, [], violations.items) };
}
