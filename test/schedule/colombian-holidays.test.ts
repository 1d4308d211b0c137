import { expect, test } from "vitest";
import { legalHolidays } from "../../src/services/schedule/colombian-holidays.js";

test("the legal holidays of a year come by date, and two on one date are one with both names", () => {
  const holidays = legalHolidays(2025);
  const dates = holidays.map(({ date }) => date);
  expect(dates).toHaveLength(17);
  expect(dates).toEqual([...new Set(dates)].toSorted());
  expect([dates[0], dates.at(-1)]).toEqual(["2025-01-01", "2025-12-25"]);
  const joined = holidays.filter(({ name }) => name.includes("/"));
  expect(joined).toEqual([{ date: "2025-06-30", name: "Sagrado Corazón de Jesús / San Pedro y San Pablo" }]);
});
