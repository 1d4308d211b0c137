import { describe, expect, it } from "vitest";
import { parseJsonObject } from "../../src/auth/parse-json-object.js";

describe("parseJsonObject", () => {
  it.each([
    "{}",
    '{"a":1,"b":{"a":2,"c":[{"a":3},{"a":4}]}}',
    '{"a":"a","b":["a","a"],"c":"a"}',
    String.raw`{"a":"\",\"a\":","b":"{\"b\":1}","c\\":"\\"}`,
    '{"":1,"__proto__":2,"constructor":3}',
  ])("reads %s", (text) => {
    expect(parseJsonObject(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it.each([
    "",
    "[]",
    "null",
    '"a"',
    "1",
    '{"a":1',
    '{"a":1} {',
    "\ufeff{}",
    '{"a":1,"a":1}',
    '{"a":1,"b":{},"a":2}',
    '{"b":{"a":1,"a":2}}',
    '{"b":[{"a":1,"a":2}]}',
    String.raw`{"a":1,"\u0061":2}`,
    String.raw`{"a\"":1,"a\u0022":2}`,
  ])("rejects %s", (text) => {
    expect(() => parseJsonObject(Buffer.from(text))).toThrow(/./);
  });

  it("rejects bytes that are not UTF-8", () => {
    expect(() => parseJsonObject(Buffer.from('{"a":"\xff"}', "latin1"))).toThrow(TypeError);
  });
});
