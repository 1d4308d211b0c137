import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

/** A number that is written, read, and changed on the condition of what it is. */
type Call =
  | { readonly kind: "WRITE"; readonly value: number }
  | { readonly kind: "READ"; readonly value: number }
  | { readonly kind: "CHANGE"; readonly from: number; readonly to: number; readonly isDone: boolean };

const register: SequentialObject<number, Call> = {
  initial: 0,
  keyOf: String,
  next(state, call) {
    if (call.kind === "WRITE") return call.value;
    if (call.kind === "READ") return call.value === state ? state : undefined;
    if ((state === call.from) !== call.isDone) return undefined;
    return call.isDone ? call.to : state;
  },
};

const NEVER = Number.POSITIVE_INFINITY;
const write = (value: number): Call => ({ kind: "WRITE", value });
const read = (value: number): Call => ({ kind: "READ", value });
const change = (from: number, to: number, isDone = true): Call => ({ kind: "CHANGE", from, to, isDone });

function between(calledAt: number, answeredAt: number, call: Call): Operation<Call> {
  return { call, calledAt, answeredAt };
}

describe("a history of one object", () => {
  test.each<[what: string, isLegal: boolean, history: readonly Operation<Call>[]]>([
    ["nothing", true, []],
    ["a read of what was written", true, [between(0, 1, write(1)), between(2, 3, read(1))]],
    ["a stale read", false, [between(0, 1, write(1)), between(2, 3, read(0))]],
    ["a read during a write, of what was before", true, [between(0, 3, write(1)), between(1, 2, read(0))]],
    ["a read during a write, of what is to be", true, [between(0, 3, write(1)), between(1, 2, read(1))]],
    [
      "two reads during a write, back in time",
      false,
      [between(0, 9, write(1)), between(1, 2, read(1)), between(3, 4, read(0))],
    ],
    ["two changes of the same value", false, [between(0, 5, change(0, 1)), between(0, 5, change(0, 2))]],
    ["one of two changes refused", true, [between(0, 5, change(0, 1)), between(0, 5, change(0, 2, false))]],
    ["a change refused for nothing", false, [between(0, 1, change(0, 1, false))]],
    ["a write without an answer that was done", true, [between(0, NEVER, write(1)), between(1, 2, read(1))]],
    ["a write without an answer that was not done", true, [between(0, NEVER, write(1)), between(1, 2, read(0))]],
    [
      "a write without an answer that was done late",
      true,
      [between(0, NEVER, write(1)), between(1, 2, read(0)), between(3, 4, read(1))],
    ],
    [
      "a write without an answer that was taken back",
      false,
      [between(0, NEVER, write(1)), between(1, 2, read(1)), between(3, 4, read(0))],
    ],
    ["a read of what was not written yet", false, [between(0, 1, read(1)), between(2, NEVER, write(1))]],
  ])("%s: %s", (_, isLegal, history) => {
    expect(isLinearizable(history, register)).toBe(isLegal);
  });

  test("is legal where one of all its orders is", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 5 }), (history) => {
        expect(isLinearizable(history, register)).toBe(ordersOf(history).some(isLegalOrder));
      }),
      { numRuns: 1_000 },
    );
  });

  test("of many thousand calls is judged at once where they hardly overlap", () => {
    const history = Array.from({ length: 5_000 }, (_, i) => between(i, i + 3.5, change(i, i + 1)));
    expect(isLinearizable(history, register)).toBe(true);
    expect(isLinearizable([...history, between(6_000, 6_001, read(0))], register)).toBe(false);
  });
});

const value = fc.nat({ max: 2 });
const operation = fc
  .record({
    call: fc.oneof(
      value.map(write),
      value.map(read),
      fc.tuple(value, value, fc.boolean()).map((all) => change(...all)),
    ),
    calledAt: fc.nat({ max: 9 }),
    lasts: fc.oneof({ weight: 5, arbitrary: fc.nat({ max: 5 }) }, { weight: 1, arbitrary: fc.constant(NEVER) }),
  })
  .map(({ call, calledAt, lasts }) => between(calledAt, calledAt + lasts, call));

/** Every order of all that was answered, with any of what was not. */
function ordersOf(history: readonly Operation<Call>[]): (readonly Operation<Call>[])[] {
  const rest = history.every(({ answeredAt }) => answeredAt === NEVER) ? [[]] : [];
  const longer = history.flatMap((first, i) =>
    ordersOf(history.filter((_, other) => other !== i)).map((order) => [first].concat(order)),
  );
  return [...rest, ...longer];
}

function isLegalOrder(order: readonly Operation<Call>[]): boolean {
  const isInTime = order.every((one, i) => order.slice(i + 1).every((later) => later.answeredAt >= one.calledAt));
  let state: number | undefined = register.initial;
  for (const { call } of order) state = state === undefined ? undefined : register.next(state, call);
  return isInTime && state !== undefined;
}
