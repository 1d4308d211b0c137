import { expect, test } from "vitest";
import { runForEach } from "../../src/jobs/run-for-each.js";

test("work that fails for some items is done for the others, and the first error is thrown at the end", async () => {
  const done: number[] = [];
  const work = async (item: number) => {
    if (item % 2 === 0) throw new Error(`item ${item}`);
    done.push(item);
  };
  await expect(runForEach([1, 2, 3, 4, 5], work)).rejects.toThrow("item 2");
  expect(done).toEqual([1, 3, 5]);
});

test("an aborted signal stops the work after the current item", async () => {
  const stop = new AbortController();
  const done: number[] = [];
  const work = async (item: number) => {
    done.push(item);
    if (item === 2) stop.abort();
  };
  await runForEach([1, 2, 3], work, stop.signal);
  expect(done).toEqual([1, 2]);
});
