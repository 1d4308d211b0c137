import { expect, test } from "vitest";
import {
  changeAfter,
  dateAfter,
  dateAndIdAfter,
  idAfter,
  startAfter,
  versionAfter,
  wordAfter,
} from "../../src/services/resources/page-keys.js";
import { cutPage, readPage } from "../../src/services/resources/pages.js";

const ID = "7d4ff6f6-5d1a-4a0c-9a5e-6a0a4f1f3a11";
const START = "2026-11-18T13:00:00.000Z";

/**
 * Functions with keys that they read and keys that they reject. An older release may have issued a token of a list with
 * another order.
 */
const cases = [
  ["idAfter", idAfter, [[[ID], ID]], [["1"], [ID, ID]]],
  ["dateAfter", dateAfter, [[["2026-11-18"], "2026-11-18"]], [["2026-02-30"], [ID], ["2026-11-18", ID]]],
  [
    "versionAfter",
    versionAfter,
    [
      [["7"], 7],
      [["123456789"], 123456789],
    ],
    [["0"], ["1234567890"], ["7", ID], ["x7"]],
  ],
  [
    "dateAndIdAfter",
    dateAndIdAfter,
    [[["2026-11-18", ID], { date: "2026-11-18", id: ID }]],
    [["2026-11-18"], ["2026-02-30", ID], ["2026-11-18", "1"], ["2026-11-18", ID, ID]],
  ],
  [
    "startAfter",
    startAfter,
    [[[START, ID], { startsAt: new Date(START), id: ID }]],
    [[START], ["never", ID], [START, "1"], [START, ID, ID]],
  ],
  [
    "wordAfter",
    wordAfter,
    [[["an", "ana", ID], { wanted: "an", word: "ana", id: ID }]],
    [
      ["an", "ana"],
      ["an", "eva", ID],
      ["an", "ana", "1"],
      ["an", "ana", ID, ID],
    ],
  ],
  [
    "changeAfter",
    changeAfter,
    [[[ID, "2"], { appointmentId: ID, version: 2 }]],
    [[ID], ["1", "2"], [ID, "0"], [ID, "2", "2"]],
  ],
] as const;

test.each(cases)("%s reads its own keys, and throws for those of other lists", (_, read, own, foreign) => {
  for (const [after, key] of own) expect(read({ size: 1, after })).toEqual(key);
  for (const after of foreign) expect(() => read({ size: 1, after })).toThrow("VALIDATION_FAILED");
  expect(read({ size: 1, after: undefined }) || undefined).toBeUndefined();
});

test("a page token is the position of its list and filters alone", () => {
  const page = readPage({ pageSize: 2 }, "rows", [{ a: 1, b: [2] }]);
  expect(cutPage(["x", "y"], page, (row) => [row], "rows").next).toEqual({});
  const { rows, next } = cutPage(["x", "y", "z"], page, (row) => [row], "rows", [{ a: 1, b: [2] }]);
  expect(rows).toEqual(["x", "y"]);
  const request = { pageToken: `${next.nextPageToken}`, pageSize: 0 };
  expect(readPage(request, "rows", [{ b: [2], a: 1 }])).toEqual({ size: 50, after: ["y"] });
  for (const filters of [[], [{ a: 1, b: [3] }], [{ a: 1, b: null }]])
    expect(() => readPage(request, "rows", filters)).toThrow("VALIDATION_FAILED");
  const [fingerprint] = JSON.parse(request.pageToken) as string[];
  for (const position of ["{}", "[1]", JSON.stringify([fingerprint]), JSON.stringify([fingerprint, 1]), "rows"])
    expect(() => readPage({ pageToken: position }, "rows", [{ a: 1, b: [2] }])).toThrow("VALIDATION_FAILED");
  expect(readPage({ pageToken: "", pageSize: 201 }, "rows")).toEqual({ size: 200, after: undefined });
});
