import { expect, test } from "vitest";
import { createRejectionPacing } from "../../../src/interceptors/concurrency/rejection-pacing.js";
import { deferred } from "../../support/deferred.js";

test("rejections are spaced out, with a delay of at most one second", async () => {
  const pauses: number[] = [];
  const over = deferred();
  const paceRejection = createRejectionPacing({ pause: (ms) => (pauses.push(ms), over.promise) });
  const errors = Array.from({ length: 300 }, () => paceRejection("PROCESS"));
  expect(pauses.slice(0, 3)).toEqual([10, 20, 30]);
  expect(pauses.at(-1)).toBe(1_000);
  over.resolve();
  await Promise.all(errors);
  await paceRejection("PROCESS");
  expect(pauses.at(-1)).toBe(10);
});

test("calls that are rejected together get different Retry-After values", async () => {
  let chance = 0;
  const paceRejection = createRejectionPacing({ pause: async () => undefined, random: () => (chance += 0.33) - 0.33 });
  const errors = await Promise.all(Array.from({ length: 4 }, () => paceRejection("PROCESS")));
  expect(errors.map(({ headers }) => headers["Retry-After"])).toEqual(["1", "1", "2", "3"]);
});
