import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { slotRunOn } from "../../src/scheduling/slots.js";
import type { SlotTimes } from "./slot-oracle.js";

/** Returns the slots of a rule on an open date one by one, as the database creates them. */
export function slotsOfRun(rule: ProgramRuleAttributes, date: string): SlotTimes[] {
  const { startsAt, count } = slotRunOn(rule, date);
  const durationMs = rule.slotDurationMinutes * 60_000;
  const at = (i: number) => `${new Date(Date.parse(startsAt) + i * durationMs).toISOString().slice(0, 19)}Z`;
  return Array.from({ length: count }, (_, i) => ({ startsAt: at(i), endsAt: at(i + 1) }));
}
