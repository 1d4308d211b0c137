import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOfferable, type Waiting, waitingOrder } from "../../src/scheduling/waiting-order.js";
import { shift } from "./calendar-oracle.js";

const SLOT = "2026-11-20";
const MINUTE_MS = 60_000;

/** Dates near each other, so that entries often agree in one. */
const date = fc.integer({ min: -20, max: 20 }).map((days) => shift(SLOT, days));
const entry: fc.Arbitrary<Waiting> = fc.record({
  id: fc.uuid(),
  requestedOn: date,
  dueOn: fc.option(date, { nil: undefined }),
  dateFrom: date,
});
const entries = fc.uniqueArray(entry, { selector: ({ id }) => id, maxLength: 12 });
const order = waitingOrder(SLOT);

describe("the order in which waiting entries are offered a slot", () => {
  const base: Waiting = { id: "b", requestedOn: "2026-11-01", dueOn: "2026-11-25", dateFrom: "2026-11-18" };

  it.each<[rule: string, earlier: Partial<Waiting>, later: Partial<Waiting>]>([
    ["the earlier request", { requestedOn: "2026-10-31", dueOn: undefined, dateFrom: "2026-11-01" }, {}],
    ["then the earlier due date", { dueOn: "2026-11-24", dateFrom: "2026-11-01" }, {}],
    ["then an entry with a due date", { dueOn: "9999-12-31", dateFrom: "2026-11-01" }, { dueOn: undefined }],
    ["then the wish nearer to the slot", { id: "c", dateFrom: "2026-11-19" }, {}],
    ["then the smaller id", { id: "a" }, {}],
  ])("puts %s first", (_, earlier, later) => {
    const [one, other] = [
      { ...base, ...earlier },
      { ...base, ...later },
    ];
    expect([order(one, other) < 0, order(other, one) > 0]).toEqual([true, true]);
  });

  it("is total: two entries with different ids are never equal, and one is equal to itself", () => {
    fc.assert(
      fc.property(entry, entry, (one, other) => {
        expect(order(one, one)).toBe(0);
        expect(Math.sign(order(one, other))).toBe(-Math.sign(order(other, one)) + 0);
        if (one.id !== other.id) expect(order(one, other)).not.toBe(0);
      }),
    );
  });

  it("is transitive", () => {
    fc.assert(
      fc.property(entry, entry, entry, (one, two, three) => {
        if (order(one, two) <= 0 && order(two, three) <= 0) expect(order(one, three)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it("does not depend on the order in which entries are read, and never prefers one that waits shorter", () => {
    fc.assert(
      fc.property(entries, (all) => {
        const sorted = all.toSorted(order);
        expect(all.toReversed().toSorted(order)).toEqual(sorted);
        const waits = sorted.map(({ requestedOn }) => requestedOn);
        expect(waits).toEqual(waits.toSorted());
      }),
    );
  });
});

describe("a slot can be offered", () => {
  it.each([
    [90, true],
    [89, false],
  ])("for half an hour if it begins in %i minutes: %s", (minutes, result) => {
    expect(isOfferable(minutes * MINUTE_MS, 0, 30)).toBe(result);
  });
});
