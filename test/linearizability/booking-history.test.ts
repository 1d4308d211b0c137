import { describe, expect, test } from "vitest";
import type { RestAnswer } from "../support/rest-request.js";
import { brokenAppointments } from "./appointment-register.js";
import { openBookingHistory } from "./booking-history.js";
import type { Shown, Trace } from "./booking-traces.js";
import { brokenUnits } from "./capacity-units.js";
import type { Operation } from "./linearizable.js";

const PLACE = {
  programId: "program",
  practitionerId: "practitioner",
  startsAt: "2026-11-20T08:00:00.000-05:00",
  endsAt: "2026-11-20T08:30:00.000-05:00",
};
const LATER = { ...PLACE, startsAt: "2026-11-20T09:00:00.000-05:00", endsAt: "2026-11-20T09:30:00.000-05:00" };
const CAPACITIES = new Map([["program", 1]]);
const NEVER = Number.POSITIVE_INFINITY;

const booked: Shown = { ...PLACE, version: 1, status: "PENDING" };
const confirmed: Shown = { ...booked, version: 2, status: "CONFIRMED" };
const cancelled: Shown = { ...booked, version: 2, status: "CANCELLED" };

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
      "with a read of before during the change",
      0,
      [at(0, 1, became("a", booked)), at(2, 5, became("a", confirmed)), at(3, 4, shown("a", booked))],
    ],
    [
      "of which two changes of one version succeed",
      1,
      [at(0, 1, became("a", booked)), at(2, 5, became("a", confirmed)), at(2, 5, became("a", cancelled))],
    ],
    [
      "with a version that says something else later",
      1,
      [at(0, 1, became("a", booked)), at(2, 3, shown("a", { ...booked, status: "CONFIRMED" }))],
    ],
    [
      "that is refused as stale for no reason",
      1,
      [at(0, 1, became("a", booked)), at(2, 3, { kind: "REFUSED", appointmentId: "a", version: 2 })],
    ],
    [
      "that a change without an answer was done to",
      0,
      [at(0, 1, became("a", booked)), at(2, NEVER, perhaps("a", 1)), at(3, 4, shown("a", confirmed))],
    ],
    [
      "that a change without an answer was taken back of",
      1,
      [
        at(0, 1, became("a", booked)),
        at(2, NEVER, perhaps("a", 1)),
        at(3, 4, shown("a", confirmed)),
        at(5, 6, shown("a", booked)),
      ],
    ],
    [
      "that is merged meanwhile",
      0,
      [
        at(0, 1, became("a", booked)),
        at(2, 3, { kind: "MERGED", appointmentId: "a" }),
        at(4, 5, shown("a", { ...booked, version: 2 })),
      ],
    ],
  ])("%s: %i broken", (_, broken, history) => {
    expect(brokenAppointments(history)).toHaveLength(broken);
  });
});

describe("the history of units of capacity", () => {
  test.each<[what: string, broken: readonly string[], history: readonly Operation<Trace>[]]>([
    [
      "that are taken, given back and taken again",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("a", cancelled)), at(4, 5, became("b", booked))],
    ],
    [
      "that two have at once",
      ["practitioner", "program"],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", booked))],
    ],
    [
      "of a day that two have at once",
      ["program"],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", { ...booked, ...LATER }))],
    ],
    [
      "that are exchanged at once",
      [],
      [at(0, 1, became("a", booked)), at(2, 9, became("b", booked)), at(3, 9, became("a", cancelled))],
    ],
    [
      "that are moved within a day",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("a", { ...confirmed, ...LATER }))],
    ],
    [
      "that an overbooked appointment is beside",
      [],
      [at(0, 1, became("a", booked)), at(2, 3, became("b", { ...booked, overbooked: true }))],
    ],
    [
      "that a stale search shows as free",
      ["practitioner"],
      [at(0, 1, became("a", booked)), at(2, 3, { kind: "FREE", place: PLACE })],
    ],
    [
      "that a search shows as free while they are taken",
      [],
      [at(0, 3, became("a", booked)), at(2, 5, { kind: "FREE", place: PLACE })],
    ],
    ["of a day that is said to be full and is not", ["program"], [at(0, 1, { kind: "FULL", ...PLACE })]],
    ["of a day that is full", [], [at(0, 1, became("a", booked)), at(2, 3, { kind: "FULL", ...PLACE })]],
  ])("%s", (_, broken, history) => {
    const units = brokenUnits(history, CAPACITIES).map((text) => /capacity of (\w+)/.exec(text)?.[1]);
    expect([...new Set(units)].toSorted()).toEqual(broken);
  });
});

describe("what callers were told", () => {
  const request = { appointmentId: "a" };

  test("has a legal order where each answer tells of what was", () => {
    const history = openBookingHistory(tick);
    tell(history, "SearchAppointmentOptions", { patientId: "p" }, { options: [{ ...PLACE, optionToken: "token" }] });
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "ConfirmAppointment", { ...request, expectedVersion: 1 }, appointment(confirmed));
    tell(history, "GetAppointment", request, appointment(confirmed));
    expect(violationsOf(history)).toEqual([]);
  });

  test("has none where one of them was given a stale answer", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "CancelAppointment", { ...request, expectedVersion: 1 }, appointment(cancelled));
    tell(history, "GetAppointment", request, appointment(booked));
    expect(violationsOf(history)).toEqual([expect.stringMatching(/^appointment a has no legal order/)]);
  });

  test("has none where a search showed what somebody has", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "SearchAppointmentOptions", { patientId: "q" }, { options: [{ ...PLACE, optionToken: "stale" }] });
    expect(violationsOf(history)).not.toEqual([]);
  });

  test("tells of a move where its option was", () => {
    const history = openBookingHistory(tick);
    tell(history, "BookAppointment", { patientId: "p", optionToken: "token" }, appointment(booked));
    tell(history, "SearchAppointmentOptions", request, { options: [{ ...LATER, optionToken: "later" }] });
    const { startsAt, endsAt } = LATER;
    const moved = { id: "a", version: 2, status: "PENDING", startsAt, endsAt };
    const change = { ...request, expectedVersion: 1, optionToken: "later" };
    tell(history, "RescheduleAppointment", change, { appointment: moved });
    expect(violationsOf(history)).toEqual([]);
    tell(
      history,
      "BookAppointmentAt",
      { patientId: "q" },
      { appointment: { ...booked, ...LATER, appointmentId: "b" } },
    );
    expect(violationsOf(history)).not.toEqual([]);
  });
});

let moment = 0;
/** Another moment each time. */
const tick = () => {
  moment += 1;
  return moment;
};

function at(calledAt: number, answeredAt: number, call: Trace): Operation<Trace> {
  return { call, calledAt, answeredAt };
}

function appointment(what: Shown) {
  return { appointment: { ...what, appointmentId: "a" } };
}

type History = ReturnType<typeof openBookingHistory>;

function tell(history: History, rpc: string, request: Parameters<History["note"]>[1], body: RestAnswer["body"]): void {
  history.note(rpc, request, tick(), { status: 200, headers: new Headers(), text: "", body });
}

function violationsOf({ operations }: History): string[] {
  return [...brokenAppointments(operations), ...brokenUnits(operations, CAPACITIES)];
}
