import { expect, test } from "vitest";
import { problemsOf, readRows } from "./documented-tests.js";

const rows = readRows("../../docs/transcoder.md");

test("docs/transcoder.md names, for every question, the choice and the reason", () => {
  const incomplete = rows.filter(({ cells }) => cells.length !== 3 || cells.some((cell) => cell === ""));
  expect(incomplete).toEqual([]);
  expect(rows.length).toBeGreaterThan(15);
});

test("docs/transcoder.md names a test that exists for every choice", () => {
  expect(rows.flatMap(problemsOf)).toEqual([]);
});
