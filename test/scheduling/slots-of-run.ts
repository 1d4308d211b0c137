import type { ProgramRuleTerms } from "../../src/scheduling/program-rule-terms.js";
import { slotRunOn } from "../../src/scheduling/slots.js";
import type { SlotTimes } from "./slot-oracle.js";

/** The slots that a run of a rule on an open date stands for, one by one, as the database lays them out. */
export function slotsOfRun(rule: ProgramRuleTerms, date: string): SlotTimes[] {
  const { startsAt, count } = slotRunOn(rule, date);
  const durationMs = rule.slotDurationMinutes * 60_000;
  const at = (i: number) => `${new Date(Date.parse(startsAt) + i * durationMs).toISOString().slice(0, 19)}Z`;
  return Array.from({ length: count }, (_, i) => ({ startsAt: at(i), endsAt: at(i + 1) }));
}
