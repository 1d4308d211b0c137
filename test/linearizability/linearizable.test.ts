import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLinearizable, type Operation, type SequentialObject } from "./linearizable.js";

/** Calls on a number that can be written, read, and changed if it has an expected value. */
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

describe("the history of one object", () => {
  test.each<[what: string, isLegal: boolean, history: readonly Operation<Call>[]]>([
    ["nothing", true, []],
    ["a read of the written value", true, [between(0, 1, write(1)), between(2, 3, read(1))]],
    ["a stale read", false, [between(0, 1, write(1)), between(2, 3, read(0))]],
    ["a read of the old value during a write", true, [between(0, 3, write(1)), between(1, 2, read(0))]],
    ["a read of the new value during a write", true, [between(0, 3, write(1)), between(1, 2, read(1))]],
    [
      "a read of the new value and then of the old one during a write",
      false,
      [between(0, 9, write(1)), between(1, 2, read(1)), between(3, 4, read(0))],
    ],
    ["two changes of the same value", false, [between(0, 5, change(0, 1)), between(0, 5, change(0, 2))]],
    [
      "two changes of the same value, one rejected",
      true,
      [between(0, 5, change(0, 1)), between(0, 5, change(0, 2, false))],
    ],
    ["a change rejected without a reason", false, [between(0, 1, change(0, 1, false))]],
    ["an executed write without an answer", true, [between(0, NEVER, write(1)), between(1, 2, read(1))]],
    ["a write without an answer that was not executed", true, [between(0, NEVER, write(1)), between(1, 2, read(0))]],
    [
      "a write without an answer that was executed late",
      true,
      [between(0, NEVER, write(1)), between(1, 2, read(0)), between(3, 4, read(1))],
    ],
    [
      "a write without an answer that is undone later",
      false,
      [between(0, NEVER, write(1)), between(1, 2, read(1)), between(3, 4, read(0))],
    ],
    ["a read before the write", false, [between(0, 1, read(1)), between(2, NEVER, write(1))]],
  ])("%s: %s", (_, isLegal, history) => {
    expect(isLinearizable(history, register)).toBe(isLegal);
  });

  test("is legal exactly if one of all possible orders is", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 5 }), (history) => {
        expect(isLinearizable(history, register)).toBe(ordersOf(history).some(isLegalOrder));
      }),
      { numRuns: 1_000 },
    );
  });

  test("of many thousand calls is checked quickly if they hardly overlap", () => {
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

/** Returns every order of all answered calls, with any subset of the others. */
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
