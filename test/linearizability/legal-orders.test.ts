import { describe, expect, test } from "vitest";
import { brokenAppointments } from "./appointment-register.js";
import { booked, CAPACITIES, cancelled, confirmed, LATER, PLACEMENT } from "./booking-fixtures.js";
import type { Shown, Trace } from "./booking-traces.js";
import { brokenUnits } from "./capacity-units.js";
import type { Operation } from "./linearizable.js";

const NEVER = Number.POSITIVE_INFINITY;
const became = (appointmentId: string, to: Shown): Trace => ({
  kind: "CHANGED",
  appointmentId,
  from: to.version - 1,
  to,
});
const shown = (appointmentId: string, what: Shown): Trace => ({ kind: "SHOWN", appointmentId, shown: what });
const perhaps = (appointmentId: string, from: number): Trace => ({
  kind: "CHANGED",
  appointmentId,
  from,
  to: undefined,
});

const held = (holdId: string, appointmentId?: string): Trace => ({
  kind: "HELD",
  holdId,
  patientId: "p",
  appointmentId,
  placement: PLACEMENT,
  lastsMs: 100,
});
const bookedBy = (appointmentId: string, holdId: string, to: Shown = booked): Trace => ({
  kind: "CHANGED",
  appointmentId,
  from: to.version - 1,
  to,
  holdId,
});

describe("the history of an appointment", () => {
  test.each<[what: string, broken: number, history: readonly Operation<Trace>[]]>([
    [
      "that is booked, confirmed and read",
      0,
      [at(0, 1, became("a", booked)), at(2, 3, became("a", confirmed)), at(4, 5, shown("a", confirmed))],
    ],
    [
      "with a stale read",
      1,
      [at(0, 1, became("a", booked)), at(2, 3, became("a", confirmed)), at(4, 5, shown("a", booked))],
    ],
    [
      "with a read of the old version during a change",
      0,
      [at(0, 1, became("a", booked)), at(2, 5, became("a", confirmed)), at(3, 4, shown("a", booked))],
    ],
    [
      "with two successful changes of one version",
      1,
      [at(0, 1, became("a", booked)), at(2, 5, became("a", confirmed)), at(2, 5, became("a", cancelled))],
    ],
    [
      "with a version that has other content later",
      1,
      [at(0, 1, became("a", booked)), at(2, 3, shown("a", { ...booked, status: "CONFIRMED" }))],
    ],
    [
      "with a wrong rejection of a version as stale",
      1,
      [at(0, 1, became("a", booked)), at(2, 3, { kind: "REFUSED", appointmentId: "a", version: 2 })],
    ],
    [
      "with an executed change without an answer",
      0,
      [at(0, 1, became("a", booked)), at(2, NEVER, perhaps("a", 1)), at(3, 4, shown("a", confirmed))],
    ],
    [
      "with a change without an answer that is undone later",
      1,
      [
        at(0, 1, became("a", booked)),
        at(2, NEVER, perhaps("a", 1)),
        at(3, 4, shown("a", confirmed)),
        at(5, 6, shown("a", booked)),
      ],
    ],
    [
      "with a merge of its patient",
      0,
      [
        at(0, 1, became("a", booked)),
        at(2, 3, { kind: "MERGED", appointmentId: "a" }),
        at(4, 5, shown("a", { ...booked, version: 2 })),
      ],
    ],
    ["that was booked without an answer", 0, [at(0, 1, shown("a", booked)), at(2, 3, became("a", confirmed))]],
    [
      "that was booked without an answer, with a stale read",
      1,
      [at(0, 1, shown("a", confirmed)), at(2, 3, shown("a", booked))],
    ],
  ])("%s: %i broken", (_, broken, history) => {
    expect(brokenAppointments(history)).toHaveLength(broken);
  });
});

describe("the history of units of capacity", () => {
  test.each<[what: string, broken: readonly string[], history: readonly Operation<Trace>[]]>([
    [
      "that are taken, released and taken again",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("a", cancelled)), at(4, 5, became("b", booked))],
    ],
    [
      "that two appointments hold at the same time",
      ["practitioner", "program"],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", booked))],
    ],
    [
      "of a day that two appointments hold at the same time",
      ["program"],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", { ...booked, ...LATER }))],
    ],
    [
      "that one appointment takes while another releases them",
      [],
      [at(0, 1, became("a", booked)), at(2, 9, became("b", booked)), at(3, 9, became("a", cancelled))],
    ],
    [
      "that are moved within a day",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("a", { ...confirmed, ...LATER }))],
    ],
    [
      "with an additional overbooked appointment",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", { ...booked, overbooked: true }))],
    ],
    [
      "that a stale search shows as free",
      ["practitioner"],
      [at(0, 1, became("a", booked)), at(2, 3, { kind: "FREE", placement: PLACEMENT })],
    ],
    [
      "that a search shows as free while they are taken",
      [],
      [at(0, 3, became("a", booked)), at(2, 5, { kind: "FREE", placement: PLACEMENT })],
    ],
    ["that are held, then booked", [], [at(0, 1, held("h")), at(2, 3, bookedBy("a", "h"))]],
    ["that are held while they are booked", ["practitioner", "program"], [at(0, 1, booking()), at(2, 3, held("h"))]],
    [
      "that are held twice, but for a released hold",
      [],
      [at(0, 1, held("h")), at(2, 3, { kind: "RELEASED", holdId: "h" }), at(4, 5, held("i"))],
    ],
    ["that are held twice", ["practitioner", "program"], [at(0, 1, held("h")), at(4, 5, held("i"))]],
    ["that are held again after the first hold expired", [], [at(0, 1, held("h")), at(101, 105, held("i"))]],
    [
      "whose hold ended with a merge of its patient",
      [],
      [at(0, 1, held("h")), at(2, 3, { kind: "HOLDS_ENDED", patientId: "p" }), at(4, 5, held("i"))],
    ],
    ["that a search shows as free while they are held", ["practitioner"], [at(0, 1, held("h")), at(2, 3, free())]],
    [
      "that an appointment has, and holds for a move on its day",
      [],
      [
        at(0, 1, became("a", { ...booked, ...LATER })),
        at(2, 3, held("h", "a")),
        at(4, 5, bookedBy("a", "h", { ...booked, version: 2 })),
      ],
    ],
    ["of a free day that an answer calls full", ["program"], [at(0, 1, { kind: "FULL", ...PLACEMENT })]],
    [
      "of a full day that an answer calls full",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, { kind: "FULL", ...PLACEMENT })],
    ],
  ])("%s", (_, broken, history) => {
    const units = brokenUnits(history, CAPACITIES).map((text) => /capacity of (\w+)/.exec(text)?.[1]);
    expect([...new Set(units)].map(String).toSorted()).toEqual(broken);
  });
});

function booking(): Trace {
  return became("b", booked);
}

function free(): Trace {
  return { kind: "FREE", placement: PLACEMENT };
}

function at(calledAt: number, answeredAt: number, call: Trace): Operation<Trace> {
  return { call, calledAt, answeredAt };
}
