import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { Book_Genre, type Kinds, KindsSchema } from "../gen/library/v1/library_pb.js";

const text = fc.string({ unit: "binary", maxLength: 8 }).filter((value) => !value.includes("\0"));
const int32 = fc.integer();
const uint32 = fc.nat({ max: 4294967295 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const float = fc.float();
const double = fc.double();
const bytes = fc.uint8Array({ maxLength: 8 });
const genre = fc.constantFrom(Book_Genre.GENRE_UNSPECIFIED, Book_Genre.NOVEL, Book_Genre.ESSAY);
const instant = fc.record({ seconds: fc.bigInt({ min: -62135596800n, max: 253402300799n }), nanos: fc.nat(999999999) });
const duration = fc
  .record({ seconds: fc.bigInt({ min: 0n, max: 315576000000n }), nanos: fc.nat(999999999) })
  .chain(({ seconds, nanos }) => fc.constantFrom({ seconds, nanos }, { seconds: -seconds, nanos: 0 - nanos }));
const struct = fc.dictionary(
  text.filter((name) => name !== "__proto__"),
  fc.oneof(text, fc.boolean(), fc.constant(null), int32),
) as fc.Arbitrary<JsonObject>;
const address = fc.record({ city: text, current: fc.boolean() }, { requiredKeys: [] });
const choice = fc.oneof(
  text.map((value) => ({ case: "text" as const, value })),
  int64.map((value) => ({ case: "number" as const, value })),
  text.map((value) => ({ case: "wrappedChoice" as const, value: { value } })),
);

const init: fc.Arbitrary<MessageInitShape<typeof KindsSchema>> = fc.record(
  {
    id: text,
    flag: fc.boolean(),
    i32: int32,
    u32: uint32,
    s32: int32,
    f32: uint32,
    sf32: int32,
    i64: int64,
    u64: uint64,
    longText: int64.map(String),
    single: float,
    real: double,
    data: bytes,
    genre,
    optI32: int32,
    optText: text,
    numbers: fc.array(int32),
    addresses: fc.array(address),
    counts: fc.dictionary(
      text.filter((name) => name !== "__proto__"),
      int32,
    ),
    choice,
    at: instant,
    lasts: duration,
    mask: fc.constantFrom({ paths: [] }, { paths: ["foo_bar", "a.b_c"] }, { paths: ["*"] }),
    wrappedText: text,
    wrappedLong: int64,
    wrappedFlag: fc.boolean(),
    wrappedReal: double,
    wrappedData: bytes,
    struct,
    times: fc.array(instant, { maxLength: 2 }),
    wrappedTexts: fc.array(
      text.map((value) => ({ value })),
      { maxLength: 2 },
    ),
    structs: fc.array(struct, { maxLength: 2 }),
    structMap: fc.dictionary(fc.constantFrom("a", "b"), struct),
    blobs: fc.array(bytes, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** Messages with every kind of field, with values that JSON can represent and a strict reader accepts. */
export const kinds: fc.Arbitrary<Kinds> = fc.tuple(init, fc.option(init, { nil: undefined })).map(([outer, inner]) => {
  const message = create(KindsSchema, outer);
  if (inner !== undefined) message.child = create(KindsSchema, inner);
  return message;
});
