import { expect, test } from "vitest";
import { createTurnAway } from "../../../src/interceptors/places/turn-away.js";
import { deferred } from "../../support/deferred.js";

test("calls are turned away one behind the other, and none later than in a second", async () => {
  const pauses: number[] = [];
  const over = deferred();
  const turnAway = createTurnAway({ pause: (ms) => (pauses.push(ms), over.promise) });
  const errors = Array.from({ length: 300 }, () => turnAway("OVERLOAD"));
  expect(pauses.slice(0, 3)).toEqual([10, 20, 30]);
  expect(pauses.at(-1)).toBe(1_000);
  over.resolve();
  await Promise.all(errors);
  await turnAway("OVERLOAD");
  expect(pauses.at(-1)).toBe(10);
});

test("those who are turned away together are told to come back at different times", async () => {
  let chance = 0;
  const turnAway = createTurnAway({ pause: async () => undefined, random: () => (chance += 0.33) - 0.33 });
  const errors = await Promise.all(Array.from({ length: 4 }, () => turnAway("OVERLOAD")));
  expect(errors.map(({ headers }) => headers["Retry-After"])).toEqual(["1", "1", "2", "3"]);
});
