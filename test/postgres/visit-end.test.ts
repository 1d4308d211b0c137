import { describe, expect, test } from "vitest";
import { visitEndOf, visitMinutesOf } from "../../src/postgres/tables/appointments/appointments.js";

const [startsAt, endsAt] = [at("08:00"), at("09:00")];

describe("the visit of an appointment from 8:00 to 9:00", () => {
  test("ends with the appointment if it was booked without a buffer, and has no length of its own", () => {
    const time = { startsAt, endsAt, visitEndsAt: undefined };
    expect([visitEndOf(time), visitMinutesOf(time)]).toEqual([endsAt, undefined]);
  });

  test.each([
    ["07:59", "09:00", 60],
    ["08:00", "09:00", 60],
    ["08:01", "08:01", 1],
    ["08:59", "08:59", 59],
    ["09:00", "09:00", 60],
    ["09:01", "09:00", 60],
  ])("whose end is stored as %s ends at %s and lasts %i minutes", (stored, end, minutes) => {
    const time = { startsAt, endsAt, visitEndsAt: at(stored) };
    expect([visitEndOf(time), visitMinutesOf(time)]).toEqual([at(end), minutes]);
  });
});

function at(time: string): Date {
  return new Date(`2030-01-08T${time}:00-05:00`);
}
