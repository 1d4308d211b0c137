/**
 * Cases of query parameters, after the tests of vanguard-go, grpc-gateway, Envoy and gapic-showcase, with fields of
 * library.v1.Kinds.
 */
import type { Difference } from "./difference.js";

/** The message that a query makes, as JSON, or its violations such as "INVALID_TYPE i32". */
export type Outcome = Readonly<Record<string, unknown>> | string;

/** A query, its outcome in the protojson profile, and its outcome in the strict profile if that differs. */
export type Query = readonly [query: string, protojson: Outcome, strict?: Outcome];

/** Queries that all these projects read in the same way as the protojson profile. */
export const queries: readonly Query[] = [
  // Numbers: the largest, the special ones, and those beyond the type.
  ["real=1.7976931348623157e%2B308", { real: 1.7976931348623157e308 }],
  ["real=NaN", { real: "NaN" }],
  ["real=Infinity", { real: "Infinity" }],
  ["real=-Infinity", { real: "-Infinity" }],
  ["real=1e%2B309", "OUT_OF_RANGE real"],
  ["single=3.4028234663852886e38", { single: 3.4028234663852886e38 }],
  ["single=NaN", { single: "NaN" }],
  ["single=-Infinity", { single: "-Infinity" }],
  ["single=1e%2B39", "OUT_OF_RANGE single"],
  ["single=fast", "INVALID_TYPE single"],
  ["i32=2147483647&s32=-2147483648&sf32=7", { i32: 2147483647, s32: -2147483648, sf32: 7 }],
  ["u32=4294967295&f32=4294967295", { u32: 4294967295, f32: 4294967295 }],
  ["i64=9223372036854775807&u64=18446744073709551615", { i64: "9223372036854775807", u64: "18446744073709551615" }],
  ["i32=2147483648", "OUT_OF_RANGE i32"],
  ["s32=2147483648&sf32=2147483648", "OUT_OF_RANGE s32, OUT_OF_RANGE sf32"],
  ["u32=-1&f32=4294967296", "OUT_OF_RANGE u32, OUT_OF_RANGE f32"],
  ["i64=9223372036854775808", "OUT_OF_RANGE i64"],
  ["u64=-1", "OUT_OF_RANGE u64"],
  ["u64=18446744073709551616", "OUT_OF_RANGE u64"],
  ["i32=1.1&u64=1.1", "INVALID_TYPE i32, INVALID_TYPE u64"],
  ["i32=seven&u64=seven", "INVALID_TYPE i32, INVALID_TYPE u64"],
  ["i32=", "INVALID_TYPE i32"],
  // Zero values: a field without presence counts as not set if it is zero.
  ["i32=0&flag=false&data=&single=0&genre=GENRE_UNSPECIFIED", {}],
  ["optI32=0&optText=", { optI32: 0, optText: "" }],
  ["child.i32=0&child.child.id=", { child: { child: {} } }],
  // Bools and texts.
  ["flag=true", { flag: true }],
  ["flag=13", "INVALID_TYPE flag"],
  ["flag=yes", "INVALID_TYPE flag"],
  ["optText=good%20morning", { optText: "good morning" }],
  ["optText=%24%25%2F%20%0A", { optText: "$%/ \n" }],
  ["optText=%E2%98%BA+%E2%86%92+%22%5C%2F%08%0C%0D%09%E1%88%B4", { optText: '☺ → "\\/\b\f\r\tሴ' }],
  ["optText=a%3Db%26c", { optText: "a=b&c" }],
  ["optText=a=b", { optText: "a=b" }],
  // Bytes: base64 of either alphabet, with or without padding.
  ["data=cXVvdGVkIT8kfn5-", { data: "cXVvdGVkIT8kfn5+" }, "INVALID_FORMAT data"],
  ["data=cXVvdGVkIT8kfn5%2B", { data: "cXVvdGVkIT8kfn5+" }],
  ["data=AQI", { data: "AQI=" }, "INVALID_FORMAT data"],
  ["data=AQI%3D", { data: "AQI=" }],
  ["data=greetings", "INVALID_FORMAT data"],
  ["data=%40%40%40%40", "INVALID_FORMAT data"],
  // Messages with a text form.
  ["at=2021-01-01T00:00:00Z", { at: "2021-01-01T00:00:00Z" }],
  ["at=2016-12-15T12:23:32.000000049Z", { at: "2016-12-15T12:23:32.000000049Z" }],
  ["at=0000-01-01T00:00:00.00Z", "INVALID_DATE_TIME at"],
  ["at=null", "INVALID_DATE_TIME at"],
  ["lasts=1s", { lasts: "1s" }],
  ["lasts=3.000000001s", { lasts: "3.000000001s" }],
  ["lasts=null", "INVALID_FORMAT lasts"],
  ["mask=title,author.fullName", { mask: "title,author.fullName" }],
  ["mask=float_value,double_value", { mask: "floatValue,doubleValue" }, "INVALID_FORMAT mask"],
  [
    "wrappedFlag=true&wrappedText=hello+world&wrappedLong=-1",
    { wrappedFlag: true, wrappedText: "hello world", wrappedLong: "-1" },
  ],
  ["wrappedReal=NaN&wrappedData=AQI%3D", { wrappedReal: "NaN", wrappedData: "AQI=" }],
  ["wrappedReal=-Infinity&wrappedLong=9223372036854775808", "OUT_OF_RANGE wrappedLong"],
  // Enumerations.
  ["genre=ESSAY", { genre: "ESSAY" }],
  ["genre=2", { genre: "ESSAY" }, "INVALID_VALUE genre"],
  ["genre=56", { genre: 56 }, "INVALID_VALUE genre"],
  ["genre=MONACO", "INVALID_VALUE genre"],
  ["genre=56Abacus", "INVALID_VALUE genre"],
  // Repeated fields, oneofs, nested messages.
  ["numbers=1&numbers=2&numbers=0", { numbers: [1, 2, 0] }],
  [
    "times=2021-01-01T00:00:00Z&times=2021-01-02T00:00:00Z",
    { times: ["2021-01-01T00:00:00Z", "2021-01-02T00:00:00Z"] },
  ],
  ["wrappedTexts=a&wrapped_texts=b", { wrappedTexts: ["a", "b"] }],
  ["text=foobar", { text: "foobar" }],
  ["wrapped_choice=foobar", { wrappedChoice: "foobar" }],
  ["text=a&number=1", "INVALID_VALUE number"],
  ["number=1&address.city=Cali", "INVALID_VALUE address.city"],
  ["address.city=Cali&number=1", "INVALID_VALUE number"],
  ["address.city=Cali&address.current=true", { address: { city: "Cali", current: true } }],
  [
    "child.child.child.numbers=1&child.child.child.numbers=2&child.child.child.id=s&child.child.id=t&child.id=u",
    { child: { id: "u", child: { id: "t", child: { id: "s", numbers: [1, 2] } } } },
  ],
  ["opt_i32=1&optI32=2", "DUPLICATE optI32"],
  ["u64=1&u64=2", "DUPLICATE u64"],
  // Names of no field.
  ["nope=1", "UNKNOWN_FIELD nope"],
  ["child.nope=1", "UNKNOWN_FIELD child.nope"],
  [".i32=1&child..id=1&child.=1", "UNKNOWN_FIELD .i32, UNKNOWN_FIELD child..id, UNKNOWN_FIELD child."],
  ["i32.nested=1", "UNKNOWN_FIELD i32.nested"],
  ["numbers.nested=1", "UNKNOWN_FIELD numbers.nested"],
  ["genre.nested=1", "UNKNOWN_FIELD genre.nested"],
  ["addresses.city=1", "UNKNOWN_FIELD addresses.city"],
  ["places.city=1", "UNKNOWN_FIELD places.city"],
  ["child=x", "UNKNOWN_FIELD child"],
  // System parameters, which are not fields.
  ["alt=json", {}, "UNKNOWN_FIELD alt"],
  ["$alt=json&%24alt=json", {}, "UNKNOWN_FIELD $alt"],
  ["%24alt=json%3Benum-encoding=int&i32=1", { i32: 1 }, "UNKNOWN_FIELD $alt"],
  ["key=secret&i32=1", { i32: 1 }, "UNKNOWN_FIELD key"],
  ["$ALT=JSON", "UNKNOWN_FIELD $ALT"],
  ["%24alt%3Djson", "UNKNOWN_FIELD $alt=json"],
  ["i32%3D1", "UNKNOWN_FIELD i32=1"],
  ["i32%3D1=2", "UNKNOWN_FIELD i32=1"],
];

/** Queries that another project reads in another way, and our outcome in both profiles. */
export const different: readonly (readonly [query: string, theirs: string, difference: Difference, ours: Outcome])[] = [
  ["optText=a+b", "Envoy: a+b, unless an option is set", "plus-in-query", { optText: "a b" }],
  ["wrappedText=%22a%22", "vanguard-go: a", "bare-text-only", { wrappedText: '"a"' }],
  ["mask=%22title%22", "gapic-showcase: title", "bare-text-only", "INVALID_FORMAT mask"],
  ["genre=null", "vanguard-go: the first value", "null-names", "INVALID_VALUE genre"],
  ["flag=True", "grpc-gateway: true", "bare-text-only", "INVALID_TYPE flag"],
  ["lasts=13h", "grpc-gateway: 13 hours", "bare-text-only", "INVALID_FORMAT lasts"],
  ["counts[a]=1", "grpc-gateway: an entry of the map", "map-in-query", "UNKNOWN_FIELD counts[a]"],
  ["counts=1", "grpc-gateway: an error of another kind", "map-in-query", "UNKNOWN_FIELD counts"],
  ["struct=%7B%7D", "grpc-gateway: the JSON of the Struct", "bare-text-only", "UNKNOWN_FIELD struct"],
  ["value=true", "grpc-gateway: the JSON of the Value", "bare-text-only", "UNKNOWN_FIELD value"],
  ["opt_text=a", "gapic-showcase: refused, to test its clients", "strict-clients", { optText: "a" }],
];

/** Queries with unknown names. They are rejected by default and ignored with `ignoreUnknownFields`. */
export const ignored: readonly (readonly [query: string, ours: Outcome])[] = [
  ["nope=1&i32=2", { i32: 2 }],
  ["child.nope=1&child.id=x", { child: { id: "x" } }],
  ["addresses.city=1", {}],
];
