import { describe, expect, test } from "vitest";
import { readDocument } from "./evidence/documents.js";

const MAX_WORDS = 40;

const { rows } = readDocument("docs/internals/decisions.md");

describe("docs/internals/decisions.md", () => {
  test(`has at most ${MAX_WORDS} words in a row`, () => {
    const long = rows.filter(({ cells }) => cells.join(" ").split(/\s+/).length > MAX_WORDS);
    expect(long).toEqual([]);
  });

  test("begins each id with the number of a section of the specification", () => {
    const numberOf = (section: string) => section.split(" ")[0] ?? "";
    const stray = rows.filter(({ section, id }) => !new RegExp(`^${numberOf(section)}(\\.\\d)?-[a-z]`).test(`${id}`));
    expect(stray).toEqual([]);
  });
});
