import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { isoWeekday, shift } from "./calendar-oracle.js";

/** The period of a slot, as UTC text with `Z`. The end is exclusive. */
export interface SlotTimes {
  readonly startsAt: string;
  readonly endsAt: string;
}

/**
 * Whether a rule opens its program on a date, as the specification defines it. Slow, and independent of the code under
 * test. `holidays` are the dates of the tenant's active holidays.
 */
export function opensByTheBook(rule: ProgramRuleAttributes, date: string, holidays: ReadonlySet<string>): boolean {
  if (!rule.active || !rule.weekdays.includes(isoWeekday(date))) return false;
  if (date < rule.validFrom || date > rule.validTo) return false;
  if (rule.holidayPolicy === "INCLUDE") return true;
  const isListed = rule.holidayDates.includes(date);
  if (rule.holidayPolicy === "SKIP") return !isListed && !holidays.has(date);
  return isListed || !holidays.has(date);
}

/**
 * Returns the slots of a rule on an open date, by arithmetic five hours behind UTC. Valid only for years without other
 * offsets.
 */
export function slotsByTheBook(rule: ProgramRuleAttributes, date: string): SlotTimes[] {
  const slots: SlotTimes[] = [];
  const durationMs = rule.slotDurationMinutes * 60_000;
  const untilMidnight = rule.endsAtLocal.startsWith("23:59");
  const startMs = Date.parse(`${date}T${inSeconds(rule.startsAtLocal)}-05:00`);
  const end = untilMidnight ? `${shift(date, 1)}T00:00:00` : `${date}T${inSeconds(rule.endsAtLocal)}`;
  for (let ms = startMs; ms + durationMs <= Date.parse(`${end}-05:00`); ms += durationMs) {
    slots.push({ startsAt: instant(ms), endsAt: instant(ms + durationMs) });
  }
  return slots;
}

function inSeconds(localTime: string): string {
  return localTime.length === 5 ? `${localTime}:00` : localTime;
}

function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
