import { expect, test } from "vitest";
import { firstSent, shownTime } from "../../src/services/schedule/program-rule-change.js";

test.each([
  ["the first one that was sent", ["endsAtLocal", "weekdays"], "weekdays"],
  ["the first one if none was sent", ["active"], "startsAtLocal"],
])("an error names, of the fields that can cause it, %s", (_, sent, expected) => {
  expect(firstSent(["startsAtLocal", "weekdays", "endsAtLocal"], new Set(sent))).toBe(expected);
});

test("a local time is shown with seconds, and one that is not valid is an error of the program", () => {
  expect([shownTime("07:15"), shownTime("23:59:59")]).toEqual(["07:15:00", "23:59:59"]);
  for (const text of ["24:00", "7:15", ""]) expect(() => shownTime(text)).toThrow("was not validated");
});
