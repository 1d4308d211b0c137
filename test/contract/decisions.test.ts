import { expect, test } from "vitest";
import { problemsOf, readRows } from "./documented-tests.js";

const rows = readRows("../../docs/decisions.md");

test("docs/decisions.md names, for every decision, the gap, the choice and the reason", () => {
  const incomplete = rows.filter(({ cells }) => cells.length !== 3 || cells.some((cell) => cell === ""));
  expect(incomplete).toEqual([]);
  expect(rows.length).toBeGreaterThan(50);
});

test("docs/decisions.md names a test that exists for every decision", () => {
  expect(rows.flatMap(problemsOf)).toEqual([]);
});
