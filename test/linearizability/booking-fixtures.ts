import type { Place, Shown } from "./booking-traces.js";

/** A time of a practitioner, and a later one of the same day, in a program that takes one appointment a day. */
export const PLACE: Place = {
  programId: "program",
  practitionerId: "practitioner",
  startsAt: "2026-11-20T08:00:00.000-05:00",
  endsAt: "2026-11-20T08:30:00.000-05:00",
};
export const LATER: Place = {
  ...PLACE,
  startsAt: "2026-11-20T09:00:00.000-05:00",
  endsAt: "2026-11-20T09:30:00.000-05:00",
};
export const CAPACITIES = new Map([["program", 1]]);

/** An appointment at that time, and what may become of it. */
export const booked: Shown = { ...PLACE, version: 1, status: "PENDING" };
export const confirmed: Shown = { ...booked, version: 2, status: "CONFIRMED" };
export const cancelled: Shown = { ...booked, version: 2, status: "CANCELLED" };
