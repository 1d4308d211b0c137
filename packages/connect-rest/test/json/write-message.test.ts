import { create, fromJson, toJsonString } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFieldWriter, createMessageWriter } from "../../src/json/write-message.js";
import { type Kinds, KindsSchema } from "../gen/library/v1/library_pb.js";
import { kinds } from "../support/arbitrary-kinds.js";

const write = createMessageWriter(KindsSchema);

test("writes every message as protobuf-es does, except for the width of timestamps", () => {
  fc.assert(
    fc.property(kinds, (message) => {
      const byLibrary = toJsonString(KindsSchema, inMilliseconds(message), { alwaysEmitImplicit: true });
      expect(widen(JSON.parse(write(message)))).toEqual(widen(JSON.parse(byLibrary)));
    }),
  );
});

test("writes the members in the order of their field numbers, without blanks", () => {
  const message = create(KindsSchema, { id: "a", optI32: 0, choice: { case: "text", value: "" } });
  expect(write(message)).toMatch(/^\{"id":"a","flag":false,"i32":0.*"optI32":0,"numbers":\[\].*"text":"".*\}$/);
});

test("omits unset fields, and writes empty ones", () => {
  const members = Object.keys(JSON.parse(write(create(KindsSchema))));
  expect(members).not.toContain("optI32");
  expect(members).not.toContain("at");
  expect(JSON.parse(write(create(KindsSchema)))).toMatchObject({ flag: false, id: "", numbers: [], counts: {} });
});

describe("writes a timestamp with milliseconds", () => {
  test.each([
    ["2026-01-15T15:00:00Z", "2026-01-15T15:00:00.000Z"],
    ["2026-01-15T15:00:00.5Z", "2026-01-15T15:00:00.500Z"],
    ["2026-01-15T15:00:00.123456789Z", "2026-01-15T15:00:00.123Z"],
    ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s as %s", (at, written) => {
    const message = fromJson(KindsSchema, { at, times: [at], child: { at } });
    expect(JSON.parse(write(message))).toMatchObject({ at: written, times: [written], child: { at: written } });
    expect(createFieldWriter(KindsSchema.field.at)(message)).toBe(JSON.stringify(written));
  });

  test.each([
    { seconds: -62_135_596_801n, nanos: 0 },
    { seconds: 253_402_300_800n, nanos: 0 },
    { seconds: 0n, nanos: -1 },
    { seconds: 0n, nanos: 1_000_000_000 },
  ])("and rejects %o", (at) => {
    expect(() => write(create(KindsSchema, { at }))).toThrow("out of range");
  });
});

/** Pads each timestamp without decimals to three decimals. */
function widen(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json).replaceAll(/(T\d\d:\d\d:\d\d)Z"/g, '$1.000Z"'));
}

function inMilliseconds(message: Kinds): Kinds {
  const cut = ({ seconds, nanos }: { seconds: bigint; nanos: number }) =>
    timestampFromDate(new Date(Number(seconds) * 1000 + Math.floor(nanos / 1e6)));
  const copy = create(KindsSchema, { ...message, times: message.times.map(cut) });
  if (message.at !== undefined) copy.at = cut(message.at);
  if (message.child !== undefined) copy.child = inMilliseconds(message.child);
  return copy;
}
