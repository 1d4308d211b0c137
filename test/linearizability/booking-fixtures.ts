import type { Placement, Shown } from "./booking-traces.js";

/** A time of a practitioner, and a later one on the same day, in a program with a daily capacity of one. */
export const PLACEMENT: Placement = {
  programId: "program",
  practitionerId: "practitioner",
  startsAt: "2026-11-20T08:00:00.000-05:00",
  endsAt: "2026-11-20T08:30:00.000-05:00",
};
export const LATER: Placement = {
  ...PLACEMENT,
  startsAt: "2026-11-20T09:00:00.000-05:00",
  endsAt: "2026-11-20T09:30:00.000-05:00",
};
export const CAPACITIES = new Map([["program", 1]]);

/** An appointment at `PLACEMENT`, and its possible later versions. */
export const booked: Shown = { ...PLACEMENT, version: 1, status: "PENDING" };
export const confirmed: Shown = { ...booked, version: 2, status: "CONFIRMED" };
export const cancelled: Shown = { ...booked, version: 2, status: "CANCELLED" };
