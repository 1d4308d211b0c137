import { expect, test } from "vitest";
import { slotsOfRun } from "../../src/postgres/tables/schedule/slot-locks.js";
import type { SlotRecord } from "../../src/postgres/tables/schedule/slots.js";

const STARTS_MS = Date.parse("2026-03-04T13:00:00Z");
const MINUTE_MS = 60_000;
const run = { firstSlotId: "8:00", minutes: 60 };
const first = slot("8:00", 0);
const second = slot("8:30", 30);

test("a run has the slots from its first one on until its minutes are over, whatever their order", () => {
  const slots = [slot("9:00", 60), second, first, slot("7:30", -30)];
  expect(slotsOfRun(slots, run)).toEqual([second, first]);
  expect(slotsOfRun(slots, { ...run, minutes: 61 })).toHaveLength(3);
});

test.each<[string, Partial<SlotRecord>]>([
  ["of another program", { programId: "other" }],
  ["of another practitioner", { practitionerId: "other" }],
  ["of another rule", { ruleId: "other" }],
  ["that is kept only for an appointment", { retained: true }],
])("a run has no slot %s", (_, changes) => {
  expect(slotsOfRun([first, { ...second, ...changes }], run)).toEqual([first]);
});

test("a run without its first slot has no slots", () => {
  expect(slotsOfRun([second], run)).toEqual([]);
});

/** Returns a slot of half an hour that begins some minutes after 8:00. */
function slot(id: string, minutes: number): SlotRecord {
  const startsAt = new Date(STARTS_MS + minutes * MINUTE_MS);
  return {
    id,
    programId: "program",
    ruleId: "rule",
    practitionerId: "practitioner",
    localDate: "2026-03-04",
    startsAt,
    endsAt: new Date(startsAt.getTime() + 30 * MINUTE_MS),
    generation: 1,
    retained: false,
    retainedBy: undefined,
    retainedById: undefined,
    retentionAccepted: false,
    appointmentId: undefined,
  };
}
