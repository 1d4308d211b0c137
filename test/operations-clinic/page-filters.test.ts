import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { cutPage, nextFrom, readPage } from "../../src/services/resources/pages.js";

test("a page token is valid for the same filter, in any order of its members", () => {
  const [programId, createdFrom] = [randomUUID(), new Date("2026-03-02T10:00:00Z")];
  const { nextPageToken: pageToken } = cutPage(["a", "b"], { size: 1, after: undefined }, (row) => [row], "rows", [
    { programId, span: { createdFrom, active: true } },
  ]).next;
  const sameFilter = [{ span: { active: true, createdFrom }, programId }];
  expect(readPage({ pageToken }, "rows", sameFilter).after).toEqual(["a"]);
  const otherFilter = [{ span: { active: false, createdFrom }, programId }];
  expect(() => readPage({ pageToken }, "rows", otherFilter)).toThrow(
    expect.objectContaining({ code: "VALIDATION_FAILED" }),
  );
});

test("a page token of one release is valid in the next one", () => {
  const filters = [{ b: 1, a: 2 }];
  const pageToken = '["9liNTtyAqZm6PkOi","x"]';
  expect(nextFrom(["x"], "rows", filters)).toEqual({ nextPageToken: pageToken });
  expect(readPage({ pageToken }, "rows", filters).after).toEqual(["x"]);
});
