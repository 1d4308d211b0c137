import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRows } from "./evidence/documented-rows.js";
import { operations } from "./specification.js";

/**
 * The numbered sections of the specification that contain rules. The sections that list gaps are in
 * docs/internals/decisions.md.
 */
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

const text = readFileSync(new URL("../../docs/internals/conformance.md", import.meta.url), "utf8");
const rows = readRows(text);

describe("docs/internals/conformance.md", () => {
  test("has rules of every section", () => {
    expect([...new Set(rows.map(({ id }) => id?.split("-")[0]))]).toEqual(SECTIONS);
  });

  test("has each row below the heading of its chapter", () => {
    expect(rows.filter(({ section, id }) => id?.split(/[.-]/)[0] !== section.split(/[. ]/)[0])).toEqual([]);
  });

  test("lists every operation with its statuses", () => {
    const listed = text.split("\n").filter((line) => line.startsWith("- "));
    const statusesOf = (name: string) =>
      listed.filter((line) => line.includes(`\`${name}\``)).map((line) => line.slice(2, line.indexOf(": ")));
    for (const [name, { success, errors }] of Object.entries(operations)) {
      expect(statusesOf(name), name).toEqual([`${success}; ${errors.join(", ")}`]);
    }
    expect(listed.join().match(/`[A-Z]+ [^`]+`/g)).toHaveLength(Object.keys(operations).length);
  });
});
