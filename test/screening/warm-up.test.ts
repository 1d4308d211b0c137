import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { warmUpScreening } from "../../src/screening/warm-up.js";

const TURNS = 20;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("each recognizer is used twice, from a second after the start on, each in a separate turn of the event loop", async () => {
  const { used, recognizers } = watched();
  warmUpScreening(recognizers);
  vi.advanceTimersByTime(999);
  await turns();
  expect(used).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(used).toEqual([]);
  expect(Math.max(...(await turns(() => used.splice(0).length)))).toBe(1);
  warmUpScreening(recognizers);
  vi.advanceTimersByTime(1_000);
  await turns();
  expect(used).toEqual(["first", "second", "first", "second"]);
});

test("remaining work is dropped when it is stopped", async () => {
  const { used, recognizers } = watched();
  const endBefore = warmUpScreening(recognizers);
  endBefore();
  vi.advanceTimersByTime(1_000);
  await turns();
  expect(used).toEqual([]);
  const end = warmUpScreening(recognizers);
  vi.advanceTimersByTime(1_000);
  end();
  await turns();
  expect(used).toEqual([]);
});

function watched() {
  const used: string[] = [];
  const uses = (name: string) => () => used.push(name) === 0;
  const recognizers = [
    ["CONTAINS_DIAGNOSIS", uses("first")],
    ["CONTAINS_CREDENTIAL", uses("second")],
  ] as const;
  return { used, recognizers };
}

/** Waits for several turns of the event loop. Returns a value read after each. */
async function turns(read: () => number = () => 0): Promise<number[]> {
  const values: number[] = [];
  for (let i = 0; i < TURNS; i += 1) {
    await setImmediate();
    values.push(read());
  }
  return values;
}
