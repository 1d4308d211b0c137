import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonSyntaxError, type JsonTree, readJson } from "../../src/json/read-json.js";

describe("reads", () => {
  test.each([
    ["null", null],
    [" \t\r\n true ", true],
    ["false", false],
    ['""', ""],
    ['"a"', "a"],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\u00e9\\u00E9\\u0000"', "éé\0"],
    ['"\\ud83d\\ude00"', "😀"],
    ['"\\ud83d"', "\ud83d"],
    ['"x\\ny"', "x\ny"],
    ['"\u2028\u007f"', "\u2028\u007f"],
    ["0", { number: "0" }],
    ["-0", { number: "-0" }],
    ["12345678901234567890", { number: "12345678901234567890" }],
    ["-1.50e+07", { number: "-1.50e+07" }],
    ["1E400", { number: "1E400" }],
    ["[]", []],
    ["[ 1 , [ ] ]", [{ number: "1" }, []]],
    ["{}", new Map()],
    [
      '{ "a" : 1 , "b" : [ true ] }',
      new Map<string, JsonTree>([
        ["a", { number: "1" }],
        ["b", [true]],
      ]),
    ],
    [
      '{"__proto__":1,"constructor":2}',
      new Map<string, JsonTree>([
        ["__proto__", { number: "1" }],
        ["constructor", { number: "2" }],
      ]),
    ],
    ['{"":null}', new Map<string, JsonTree>([["", null]])],
  ])("%s", (text, tree) => {
    expect(readJson(text, 16)).toEqual(tree);
  });
});

describe("rejects", () => {
  test.each([
    ["", 1, "a value was expected"],
    [" ", 2, "a value was expected"],
    ["\ufeff{}", 1, "a value was expected"],
    ["\u00a0{}", 1, "a value was expected"],
    ["{} {}", 4, "the end was expected"],
    ["nul", 1, "a value was expected"],
    ["nulls", 5, "the end was expected"],
    ["True", 1, "a value was expected"],
    ["NaN", 1, "a value was expected"],
    ["Infinity", 1, "a value was expected"],
    ["'a'", 1, "a value was expected"],
    ["// a\n1", 1, "a value was expected"],
    ["01", 2, "the end was expected"],
    ["+1", 1, "a value was expected"],
    ["1.", 2, "the end was expected"],
    [".5", 1, "a value was expected"],
    ["-", 1, "a value was expected"],
    ["1e", 2, "the end was expected"],
    ["0x10", 2, "the end was expected"],
    ["[", 2, "a value was expected"],
    ["[1", 3, '"," or "]" was expected'],
    ["[1,]", 4, "a value was expected"],
    ["[,1]", 2, "a value was expected"],
    ["[1}", 3, '"," or "]" was expected'],
    ["{", 2, "a member name was expected"],
    ['{"a"', 5, '":" was expected'],
    ['{"a":', 6, "a value was expected"],
    ['{"a":1', 7, '"," or "}" was expected'],
    ['{"a":1,}', 8, "a member name was expected"],
    ["{a:1}", 2, "a member name was expected"],
    ["{1:1}", 2, "a member name was expected"],
    ['{"a":1,"a":1}', 8, "the object already has a member of this name"],
    ['{"a":1,"\\u0061":1}', 8, "the object already has a member of this name"],
    ['[{"b":{"a":1, "a":1}}]', 15, "the object already has a member of this name"],
    ['{"__proto__":1,"__proto__":1}', 16, "the object already has a member of this name"],
    ['"', 2, "a string has no end"],
    ['"a', 3, "a string has no end"],
    ['"\n"', 2, "a string contains a control character"],
    ['"\0"', 2, "a string contains a control character"],
    ['"\\x41"', 3, "unknown escape sequence"],
    ['"\\', 3, "unknown escape sequence"],
    ['"\\u12g4"', 4, "four hex digits were expected"],
    ['"\\u 123"', 4, "four hex digits were expected"],
  ])("%j at character %i: %s", (text, character, problem) => {
    expect(() => readJson(text, 16)).toThrow(new JsonSyntaxError(`not JSON at character ${character}: ${problem}`));
  });

  test("deeper nesting than allowed, and no less", () => {
    expect(readJson('[{"a":[]}]', 3)).toEqual([new Map([["a", []]])]);
    expect(() => readJson('[{"a":[[]]}]', 3)).toThrow("not JSON at character 8: nested deeper than 3");
    expect(() => readJson("[".repeat(1_000_000), 16)).toThrow("character 17: nested deeper than 16");
  });

  test("without repeating the input", () => {
    expect(() => readJson('{"secret"}', 16)).toThrow(expect.not.stringContaining("secret"));
  });
});

describe("agrees with JSON.parse", () => {
  test("for every value that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(plain(readJson(text, 16))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("about whether a damaged text is JSON", () => {
    const damaged = fc
      .tuple(
        fc.jsonValue({ maxDepth: 3 }),
        fc.nat(),
        fc.constantFrom("", ",", '"', "\\", "]", "}", "0", "e", " ", "\u00a0", "-"),
      )
      .map(([value, at, put]) => {
        const text = JSON.stringify(value);
        const index = at % (text.length + 1);
        return text.slice(0, index) + put + text.slice(index + 1);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        const parsed = attempt(() => JSON.parse(text));
        const read = attempt(() => plain(readJson(text, 16)));
        if (!read.problem.includes("already has a member")) expect(read.value).toEqual(parsed.value);
        expect(read.problem === "").toBe(parsed.problem === "" && !read.problem.includes("already"));
      }),
      { numRuns: 1000 },
    );
  });
});

function plain(tree: JsonTree): unknown {
  if (tree instanceof Map) return Object.fromEntries(Array.from(tree, ([name, value]) => [name, plain(value)]));
  if (Array.isArray(tree)) return tree.map(plain);
  return typeof tree === "object" && tree !== null && "number" in tree ? Number(tree.number) : tree;
}

function attempt(run: () => unknown): { value: unknown; problem: string } {
  try {
    return { value: run(), problem: "" };
  } catch (error) {
    return { value: undefined, problem: String(error) };
  }
}
