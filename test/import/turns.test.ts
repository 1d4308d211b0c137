import { expect, test } from "vitest";
import { mapInTurns } from "../../src/services/imports/turns.js";

test("items are mapped in order, at most ten in each turn of the event loop", async () => {
  let turn = 0;
  let next = setImmediate(function begin() {
    turn += 1;
    next = setImmediate(begin);
  });
  const items = Array.from({ length: 35 }, (_, index) => `item ${index}`);
  const mapped = await mapInTurns(items, (item, index) => ({ item, index, turn }));
  clearImmediate(next);
  expect(mapped.map(({ item }) => item)).toEqual(items);
  expect(mapped.map(({ index }) => index)).toEqual([...items.keys()]);
  const turns = [...new Set(mapped.map((each) => each.turn))];
  const counts = turns.map((one) => mapped.filter((each) => each.turn === one).length);
  expect(Math.max(...counts)).toBe(10);
  expect(counts).toHaveLength(4);
});
