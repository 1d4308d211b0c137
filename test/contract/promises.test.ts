import { expect, test } from "vitest";
import { problemsOf, readRows } from "./documented-tests.js";

/** Documents that promise, row by row, with the tests that hold it, and how many rows they have at least. */
const documents: readonly (readonly [path: string, least: number])[] = [
  ["docs/security.md", 30],
  ["docs/reliability.md", 15],
];

test.each(documents)(
  "%s names, for every promise, what is done or was found, and a test that exists",
  (path, least) => {
    const rows = readRows(`../../${path}`);
    const incomplete = rows.filter(({ cells }) => cells.length < 2 || cells.some((cell) => cell === ""));
    expect(incomplete).toEqual([]);
    expect(rows.flatMap(problemsOf)).toEqual([]);
    expect(rows.length).toBeGreaterThanOrEqual(least);
  },
);
