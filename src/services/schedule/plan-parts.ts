import type { MaterializationProgress } from "../../postgres/tables/schedule/materialization.js";
import type { PlannedRun, SlotPlan } from "../../postgres/tables/schedule/planned-slots.js";
import { type DateSpan, widestSpan } from "../../scheduling/horizon.js";
import { earlierDate, laterDate, previousDate } from "../../scheduling/local-date.js";
import type { PlanInputs, ProgramPlan } from "./plan-slots.js";

/** Some slots of a plan, and the state of the schedule after they are added. */
export interface PlanPart {
  readonly plan: SlotPlan;
  readonly progress: MaterializationProgress;
}

/**
 * The highest number of slots that one transaction adds. Adding them takes some tenths of a second. Changes of the
 * program and of the holidays wait meanwhile.
 */
export const MAX_SLOTS_IN_PART = 4_000;

/**
 * Returns the next part of a plan: as many whole dates as fit into `maxSlots` slots. `staff` is the number of
 * practitioners who already have the slots of the first date.
 *
 * If `staff` is not 0, or the first date has more than `maxSlots` slots, the part has only slots of the first date.
 * Example: on this date, 10 practitioners have 500 slots each, and `maxSlots` is 4,000. Then the first part has the
 * slots of 8 practitioners, and the next part (`staff` is 8) has those of the other 2. A part has at least one
 * practitioner, even with more than `maxSlots` slots.
 */
export function nextPartOf(plan: ProgramPlan, staff = 0, maxSlots = MAX_SLOTS_IN_PART): PlanPart {
  const perDate = slotsPerPractitioner(plan);
  const [first] = perDate;
  if (first === undefined || plan.staff.length === 0) return wholeOf(plan);
  const [date, slots] = first;
  if (staff > 0 || slots * plan.staff.length > maxSlots) {
    return someStaffOn(date, plan, { from: staff, count: Math.max(1, Math.floor(maxSlots / slots)) });
  }
  return firstDatesOf(plan, perDate, maxSlots);
}

/** Returns `inputs` for the dates of `span` only. These dates must be within the span of `inputs`. */
export function inputsWithin(inputs: PlanInputs, span: DateSpan): PlanInputs {
  const holidays = new Set([...inputs.holidays].filter((date) => span.from <= date && date <= span.through));
  return { ...inputs, span, holidays };
}

/** Returns the part of `plan` on the dates `from` to `through`. These dates must be within the dates of `plan`. */
export function planWithin(plan: ProgramPlan, { from, through }: DateSpan): ProgramPlan {
  return {
    ...plan,
    from,
    through,
    runs: plan.runs.filter(({ localDate }) => from <= localDate && localDate <= through),
  };
}

/**
 * Returns the plan up to the last date that can have slots ({@link widestSpan}). The added dates have no slots of
 * rules. They can have slots of appointments outside the schedule, such as imported ones.
 */
export function throughLastDate(plan: ProgramPlan, nowMs: number): ProgramPlan {
  return { ...plan, through: laterDate(plan.through, widestSpan(nowMs).through) };
}

/**
 * Returns the range from the first to the last date on which two plans of a program differ; undefined if there is no
 * such date. The plans differ on a date in these cases:
 * - They have different slots on the date.
 * - The date is a holiday, and the rules that have no slots because of it are not the same in the two plans.
 *
 * If the plans differ in anything else, such as practitioners or blocks, returns the whole range of `after`.
 */
export function differingSpan(before: ProgramPlan, after: ProgramPlan): DateSpan | undefined {
  const { from, through } = after;
  if (mayDifferOnAnyDate(before, after)) return { from, through };
  const [old, planned] = [byDate(before), byDate(after)];
  const dates = new Set([...old.keys(), ...planned.keys()]);
  return spanOf([...dates].filter((date) => old.get(date) !== planned.get(date)));
}

/**
 * Returns the range from the first to the last date on which `after` has slots that `before` does not have. Returns
 * undefined if there is no such date. If the plans differ in anything but slots and holidays, such as practitioners or
 * blocks, returns the whole range of `after`.
 */
export function gainingSpan(before: ProgramPlan, after: ProgramPlan): DateSpan | undefined {
  const { from, through } = after;
  if (mayDifferOnAnyDate(before, after)) return { from, through };
  const old = new Map(before.runs.map((run) => [`${run.ruleId} ${run.localDate}`, run]));
  const gaining = after.runs.filter((run) => !hasAllSlots(old.get(`${run.ruleId} ${run.localDate}`), run));
  return spanOf(gaining.map(({ localDate }) => localDate));
}

function hasAllSlots(old: PlannedRun | undefined, run: PlannedRun): boolean {
  if (old === undefined || old.minutes !== run.minutes) return false;
  const skipped = (Date.parse(run.startsAt) - Date.parse(old.startsAt)) / (run.minutes * 60_000);
  return Number.isInteger(skipped) && skipped >= 0 && skipped + run.count <= old.count;
}

function spanOf([first, ...others]: readonly string[]): DateSpan | undefined {
  if (first === undefined) return undefined;
  return { from: others.reduce(earlierDate, first), through: others.reduce(laterDate, first) };
}

function mayDifferOnAnyDate(before: ProgramPlan, after: ProgramPlan): boolean {
  return JSON.stringify(onAnyDate(before)) !== JSON.stringify(onAnyDate(after));
}

function onAnyDate(plan: ProgramPlan) {
  return { ...plan, runs: [], obstacles: { ...plan.obstacles, holidays: [] } };
}

/**
 * Returns a text for each date, to compare two plans. The text contains the planned slots of the date, and the rules
 * that have no slots on this date because of a holiday.
 */
function byDate({ runs, obstacles }: ProgramPlan): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const each of [...runs, ...obstacles.holidays]) {
    texts.set(each.localDate, `${texts.get(each.localDate) ?? ""}${JSON.stringify(each)}`);
  }
  return texts;
}

/**
 * Returns a pair for each date, ordered by date: the date, and the number of slots that one practitioner has on it.
 * Blocks are not subtracted, so the number is the same for every practitioner.
 */
function slotsPerPractitioner({ runs }: ProgramPlan): readonly (readonly [string, number])[] {
  const perDate = new Map<string, number>();
  for (const { localDate, count } of runs) perDate.set(localDate, (perDate.get(localDate) ?? 0) + count);
  return [...perDate].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function wholeOf(plan: ProgramPlan): PlanPart {
  return { plan, progress: { through: plan.through, staff: 0 } };
}

function someStaffOn(
  date: string,
  plan: ProgramPlan,
  some: { readonly from: number; readonly count: number },
): PlanPart {
  const until = some.from + some.count;
  const isLast = until >= plan.staff.length;
  return {
    plan: {
      ...plan,
      through: date,
      staff: plan.staff.slice(some.from, until),
      runs: plan.runs.filter(({ localDate }) => localDate === date),
    },
    progress: isLast ? { through: date, staff: 0 } : { through: previousDate(date), staff: until },
  };
}

function firstDatesOf(plan: ProgramPlan, perDate: readonly (readonly [string, number])[], maxSlots: number): PlanPart {
  let slots = 0;
  const next = perDate.find(([, count]) => {
    slots += count * plan.staff.length;
    return slots > maxSlots;
  });
  if (next === undefined) return wholeOf(plan);
  const through = previousDate(next[0]);
  return { plan: planWithin(plan, { from: plan.from, through }), progress: { through, staff: 0 } };
}
