import { describe, expect, test } from "vitest";
import { readRows } from "./evidence/documented-rows.js";
import { readDocument } from "./evidence/documents.js";
import { evidencePage } from "./evidence/evidence-page.js";
import { problemsOf } from "./evidence/proofs.js";

/** The documents, each with its lowest allowed number of rows. */
const leastRows = {
  "docs/internals/conformance.md": 80,
  "docs/internals/decisions.md": 150,
  "packages/connect-rest/docs/transcoder.md": 15,
  "docs/internals/reliability.md": 30,
  "docs/operate/security.md": 30,
};

const documents = Object.keys(leastRows).map(readDocument);

test.each(Object.entries(leastRows))("%s has at least %d rows", (path, least) => {
  expect(readDocument(path).rows.length).toBeGreaterThanOrEqual(least);
});

describe.each(documents)("$path", ({ rows, evidence }) => {
  test("has an id in each row, and no empty cell", () => {
    expect(rows.filter(({ id, isComplete }) => id === undefined || !isComplete)).toEqual([]);
  });

  test("has evidence for each row, and a row for each piece of evidence", () => {
    expect(evidence.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => `${id}`).toSorted());
  });

  test("is proven by tests that exist", () => {
    expect(evidence.flatMap(problemsOf)).toEqual([]);
  });
});

test("a decision has at most 40 words, with its reason", () => {
  const { rows } = readDocument("docs/internals/decisions.md");
  const wordsIn = (cells: readonly string[]) => cells.join(" ").split(/\s+/).length;
  expect(rows.filter(({ cells }) => wordsIn(cells) > 40).map(({ id }) => id)).toEqual([]);
});

test("no two rows have the same id", () => {
  const ids = documents.flatMap(({ rows }) => rows.map(({ id }) => id));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("test/contract/evidence/README.md lists the tests of each row", async () => {
  await expect(evidencePage(documents)).toMatchFileSnapshot("evidence/README.md");
});

describe("the check of evidence", () => {
  test.each([
    ["no test", [], "no test is named"],
    ["an unknown file", ["contract/nothing.test.ts › anything"], "there is no file contract/nothing.test.ts"],
    ["an unknown test", ["contract/evidence.test.ts › no such test"], /has no test "no such test"$/],
    ["a file without a title", ["contract/evidence.test.ts"], /has no test ""$/],
    ["a part of a title", ["contract/evidence.test.ts › is proven by tests"], /has no test "is proven by tests"$/],
  ])("reports %s", (_, tests, problem) => {
    expect(problemsOf({ id: "a-row", tests })).toEqual([expect.stringMatching(problem)]);
  });

  test("accepts a title that is in the file", () => {
    expect(problemsOf({ id: "a-row", tests: ["contract/evidence.test.ts › is proven by tests that exist"] })).toEqual(
      [],
    );
  });
});

describe("the reader of rows", () => {
  test("reads the id from its column, and the section from the heading above the table", () => {
    expect(readRows("# A\n\n## B\n\n| Rule | Id |\n| --- | --- |\n| one | a |\n| two | b |\n")).toEqual([
      { section: "B", id: "a", cells: ["one", "a"], isComplete: true },
      { section: "B", id: "b", cells: ["two", "b"], isComplete: true },
    ]);
  });

  test.each([
    ["an empty cell", "| a | |"],
    ["a missing cell", "| a |"],
    ["an additional cell", "| a | b | c |"],
  ])("reports %s", (_, row) => {
    expect(readRows(`| Id | Rule |\n| --- | --- |\n${row}`)).toMatchObject([{ id: "a", isComplete: false }]);
  });

  test("finds no id in a table without that column", () => {
    expect(readRows("| Rule | Why |\n| --- | --- |\n| one | two |")).toMatchObject([{ id: undefined }]);
  });
});
