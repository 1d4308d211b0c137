import { expect, it } from "vitest";
import { remainingCapacity } from "../../src/scheduling/day-capacity.js";

it.each([
  [10, 0, 10],
  [10, 9, 1],
  [10, 10, 0],
  [10, 11, 0],
  [1, 10_000, 0],
])("a capacity of %d with %d booked leaves %d", (dailyCapacity, booked, remaining) => {
  expect(remainingCapacity(dailyCapacity, booked)).toBe(remaining);
});
