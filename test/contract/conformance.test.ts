import { describe, expect, test } from "vitest";
import { problemsOf, readRows } from "./documented-tests.js";
import { operations } from "./specification.js";

/** The numbered parts of the specification that hold rules; those that list gaps are in docs/decisions.md. */
const SECTIONS = [
  "1",
  "2.1",
  "2.2",
  "2.3",
  "2.4",
  "2.5",
  "2.6",
  "2.7",
  "2.8",
  "3",
  "4",
  "4.1",
  "4.2",
  "4.3",
  "4.4",
  "4.5",
  "4.6",
  "4.7",
  "5",
  "6",
  "7",
  "8",
  "9",
];

const rows = readRows("../../docs/conformance.md");

describe("docs/conformance.md", () => {
  test("has rules of every section", () => {
    expect([...new Set(rows.map(({ section }) => section.split(" ")[0]))]).toEqual(SECTIONS);
  });

  test("has a row for every operation", () => {
    const text = rows.filter(({ section }) => section.startsWith("4.1 ")).map(({ cells }) => cells.join());
    const missing = Object.keys(operations).filter((name) => !text.some((each) => each.includes(`\`${name}\``)));
    expect(missing).toEqual([]);
  });

  test("names a test that exists for every rule", () => {
    expect(rows.flatMap(problemsOf)).toEqual([]);
  });
});

describe("the check of a row", () => {
  test.each([
    ["names no test", "", /^no test is named/],
    ["names a file that is not there", "contract/nothing.test.ts › anything", /^there is no file/],
    ["names a test that is not there", "contract/conformance.test.ts › no such test", /has no test/],
    ["names a file alone", "contract/conformance.test.ts", /has no test/],
    ["awaits what nobody knows", "awaits: better times", /^nobody knows/],
    ["names a part of a title", "contract/conformance.test.ts › has a row", /has no test/],
  ])("finds one that %s", (_, named, problem) => {
    const row = { section: "", cells: ["a rule"], tests: named === "" ? [] : [named] };
    expect(problemsOf(row)).toEqual([expect.stringMatching(problem)]);
  });
});
