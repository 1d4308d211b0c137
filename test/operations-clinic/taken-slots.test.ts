import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { SlotRecord } from "../../src/postgres/tables/schedule/slots.js";
import { fill, placementOf, requireSlots, visitEndIn } from "../../src/services/appointments/take-slots.js";

const START_MS = Date.parse("2030-01-07T08:00:00-05:00");
const place = { locationId: randomUUID(), emergency: false };

test("no slots fill no time and hold no visit", () => {
  expect(fill([], 1)).toBe(false);
  expect(visitEndIn([], 30)).toBeUndefined();
  expect(() => placementOf([], place.locationId, undefined)).toThrow("at least one slot");
});

test("a visit ends with the slot that covers its end, or with the last slot", () => {
  const slots = [slotAt(0), slotAt(20), slotAt(40)];
  expect([20, 21, 60, 61].map((minutes) => minutesOf(visitEndIn(slots, minutes)))).toEqual([20, 40, 60, 60]);
  const placement = placementOf(slots, place.locationId, 21);
  expect([placement.startsAt, placement.endsAt, placement.visitEndsAt].map(minutesOf)).toEqual([0, 60, 40]);
});

test("an option cannot be taken before the busy times of its people are known", () => {
  const slots = [slotAt(0)];
  const option = { ...place, slotId: `${slots[0]?.id}`, minutes: 20, generation: 1, serviceId: randomUUID() };
  const token = { jti: randomUUID(), visitMinutes: undefined, holdId: undefined, expiresAtMs: START_MS };
  const subject = { kind: "PATIENT", id: randomUUID() } as const;
  const nothing = { patient: undefined, waitlistEntry: undefined, appointment: undefined, hold: undefined };
  const locked = { ...nothing, isTokenFresh: true, slots, occupiedSlots: [], isPractitionerActive: true };
  const take = (busy: { isPatientBusy: boolean; isPractitionerBusy: boolean } | undefined) =>
    requireSlots({ ...option, ...token, subject }, { locked, offer: place, busy }, [], START_MS - 1);
  expect(take({ isPatientBusy: false, isPractitionerBusy: false }).slots).toEqual(slots);
  expect(() => take(undefined)).toThrow("the busy times for the option were not read");
});

/** Returns a free slot of twenty minutes that begins so many minutes after the start. */
function slotAt(minutes: number): SlotRecord {
  const startMs = START_MS + minutes * 60_000;
  return {
    id: randomUUID(),
    programId: randomUUID(),
    ruleId: randomUUID(),
    practitionerId: randomUUID(),
    localDate: "2030-01-07",
    startsAt: new Date(startMs),
    endsAt: new Date(startMs + 20 * 60_000),
    generation: 1,
    retained: false,
    retainedBy: undefined,
    retainedById: undefined,
    retentionAccepted: false,
    appointmentId: undefined,
  };
}

function minutesOf(date: Date | undefined): number {
  return (Number(date) - START_MS) / 60_000;
}
