import type { Transaction } from "../../call.js";
import { requestExtension } from "../../postgres/job-queue.js";
import {
  type MaterializationState,
  markMaterialized,
  markOutdated,
  markUpToDate,
  readMaterialization,
  startNewGeneration,
  wantMaterialization,
} from "../../postgres/tables/schedule/materialization.js";
import { previewSlots, type SlotChanges } from "../../postgres/tables/schedule/schedule-preview.js";
import { addMissingSlots, withdrawSlots } from "../../postgres/tables/schedule/slot-plan.js";
import { changeableSpan, commonDates, datesChangedAtOnce, horizonFrom, widestSpan } from "../../scheduling/horizon.js";
import { addCalendarDays, earlierDate, laterDate, previousDate } from "../../scheduling/local-date.js";
import { hasRoomFor } from "./plan-budget.js";
import { differingSpan, gainingSpan, inputsWithin, nextPartOf, planWithin, throughLastDate } from "./plan-parts.js";
import {
  type IdentifiedRule,
  type PlanChanges,
  type PlanInputs,
  type ProgramPlan,
  planOn,
  readPlanInputs,
} from "./plan-slots.js";

/**
 * How many seconds a job waits after a change before it compares outdated slots with the plan. If several changes are
 * made in this time, one comparison covers them all.
 */
const COMPARE_AFTER_SECONDS = 2;

/** The state of a program's schedule, and the inputs of its plan on all dates that can have slots. */
export interface ScheduleInputs {
  readonly state: MaterializationState;
  readonly inputs: PlanInputs;
  /**
   * The highest number of open slots that the tenant may have; undefined for no limit. If a program without slots would
   * exceed it, {@link materializeProgram} adds none. Jobs add them when there is room.
   */
  readonly maxOpenSlots?: number;
}

/**
 * Reads the inputs of a program's schedule in one round trip. `joining` are practitioners who will join the program.
 */
export async function readScheduleInputs(
  transaction: Transaction,
  programId: string,
  nowMs: number,
  joining?: readonly string[],
): Promise<ScheduleInputs> {
  const [state, inputs] = await Promise.all([
    readMaterialization(transaction, programId),
    readPlanInputs(transaction, programId, widestSpan(nowMs), joining),
  ]);
  return { state, inputs: inputsWithin(inputs, changeableSpan(state, nowMs)) };
}

/**
 * Withdraws the slots of a program that are not in its plan (see {@link withdrawSlots}), and adds missing slots. This
 * call adds at most `MAX_SLOTS_IN_PART` slots. Jobs add the others, up to the horizon. A program that is not active
 * gets no slots.
 *
 * The transaction must hold the shared calendar lock and the lock of the program.
 */
export async function materializeProgram(
  transaction: Transaction,
  schedule: ScheduleInputs,
  nowMs: number,
): Promise<void> {
  const { state, inputs } = schedule;
  const now = new Date(nowMs);
  const { programId } = inputs;
  const plan = planOn(inputs);
  await withdrawSlots(transaction, throughLastDate(plan, nowMs), now);
  if (state.outdatedFrom !== undefined) markUpToDate(transaction, programId);
  if (state.isActive && (await hasRoomForPart(transaction, schedule, plan, nowMs))) {
    return addPart(transaction, plan, plan.through, now);
  }
  markMaterialized(transaction, programId, { through: previousDate(plan.from), staff: 0 }, now);
  if (state.isActive) requestExtension(transaction);
}

/**
 * Whether the tenant has room for the slots that {@link addPart} adds. True without a limit, and for a program that
 * already has slots.
 */
async function hasRoomForPart(
  transaction: Transaction,
  { state: { through = "" }, maxOpenSlots = Number.POSITIVE_INFINITY }: ScheduleInputs,
  plan: ProgramPlan,
  nowMs: number,
): Promise<boolean> {
  if (through >= plan.from) return true;
  const { runs, staff } = nextPartOf(plan).plan;
  const added = staff.length * runs.reduce((slots, { count }) => slots + count, 0);
  return hasRoomFor(transaction, added, maxOpenSlots, nowMs);
}

/**
 * Updates the slots of a program after a change of its rules, practitioners, location or `active`. The transaction must
 * also write this change and hold the locks of {@link materializeProgram}. Pass the change as `changes` if `schedule`
 * was read before the change. Pass no `changes` if `schedule` was read after it.
 *
 * A program that never had a schedule can have slots too, such as those of overbooked appointments. For such a program,
 * withdraws the slots that the plan does not have, and calls {@link askForSchedule}.
 *
 * Otherwise increments the `generation` of the program. New slots get this number, so that options of replaced slots
 * become invalid. Then updates the slots on these dates:
 * - Without `changes`: all dates.
 * - With `changes`, if the program is not active: the dates on which the change alters the plan.
 * - With `changes`, if the program is active: the dates in {@link datesChangedAtOnce} on which the change alters the
 *   plan. If the change alters later dates too, the slots from the first of these later dates on become outdated.
 *   Nobody can book outdated slots until a job has compared them with the plan.
 */
export async function remakeProgram(
  transaction: Transaction,
  schedule: ScheduleInputs,
  changes: PlanChanges | undefined,
  nowMs: number,
): Promise<void> {
  const { state, inputs } = schedule;
  const { programId } = inputs;
  const now = new Date(nowMs);
  if (!isMade(state)) {
    await withdrawSlots(transaction, throughLastDate(planOn(inputs, changes), nowMs), now);
    return askForSchedule(transaction, programId, nowMs);
  }
  startNewGeneration(transaction, [programId]);
  if (changes === undefined) return materializeProgram(transaction, schedule, nowMs);
  if (changes.rules !== undefined && haveSameSlots(inputs.rules, changes.rules)) return;
  const [before, plan] = [planOn(inputs), planOn(inputs, changes)];
  const differing = differingSpan(before, plan);
  if (differing === undefined) return;
  const atOnce = state.isActive ? datesChangedAtOnce(state, nowMs) : plan;
  const changed = commonDates(differing, atOnce);
  if (changed !== undefined) {
    const part = planWithin(plan, changed);
    await withdrawSlots(transaction, changed.through === plan.through ? throughLastDate(part, nowMs) : part, now);
  }
  const gaining = gainingSpan(before, plan);
  const gained = gaining && commonDates(gaining, atOnce);
  if (gained !== undefined) addOnDates(transaction, state, planWithin(plan, gained), now);
  if (differing.through > atOnce.through) {
    markOutdated(transaction, programId, laterDate(differing.from, addCalendarDays(atOnce.through, 1)));
    requestExtension(transaction, COMPARE_AFTER_SECONDS);
  } else if (state.isActive && state.through !== plan.through) requestExtension(transaction);
}

/** Whether two lists of rules are equal, except for daily capacity and version. Equal lists produce the same slots. */
function haveSameSlots(before: readonly IdentifiedRule[], after: readonly IdentifiedRule[]): boolean {
  const slotsOf = (rules: readonly IdentifiedRule[]) =>
    JSON.stringify(rules.map((rule) => ({ ...rule, dailyCapacity: 0, version: 0 })));
  return slotsOf(before) === slotsOf(after);
}

/**
 * Requests the first schedule of a locked program. Does nothing if it was requested before, or if the program has no
 * active rule, no practitioner or no service. Call this after each change that can add one of these three. After the
 * commit, jobs create the slots, but only while the program and its location are active.
 */
export function askForSchedule(transaction: Transaction, programId: string, nowMs: number): void {
  wantMaterialization(transaction, programId, previousDate(horizonFrom(nowMs).from));
  requestExtension(transaction);
}

/** Whether the program has ever had a schedule. */
export function isMade({ through, at }: MaterializationState): boolean {
  return through !== undefined && at !== undefined;
}

/**
 * Returns the slot changes that {@link remakeProgram} would make with these rules and practitioners, and the last date
 * that was compared (`through`). Writes nothing. If the program never had a schedule, no slots are added, and `through`
 * is undefined.
 */
export async function previewRemake(
  transaction: Transaction,
  programId: string,
  changes: Pick<PlanChanges, "rules" | "practitionerIds">,
  nowMs: number,
  limit: number,
): Promise<SlotChanges & { readonly through: string | undefined }> {
  const { state, inputs } = await readScheduleInputs(transaction, programId, nowMs, changes.practitionerIds);
  const plan = planOn(inputs, changes);
  const found = await previewSlots(transaction, throughLastDate(plan, nowMs), new Date(nowMs), { limit });
  return isMade(state) ? { ...found, through: plan.through } : { ...found, added: 0, through: undefined };
}

/**
 * Adds missing slots on the dates of a plan, up to the last date for which the schedule was already made. Of a large
 * plan, only the first part is added ({@link addPart}). Jobs add all other slots.
 */
function addOnDates(
  transaction: Transaction,
  { through: made = "" }: MaterializationState,
  plan: ProgramPlan,
  now: Date,
): void {
  if (made < plan.from) return;
  const through = earlierDate(made, plan.through);
  addPart(transaction, planWithin(plan, { from: plan.from, through }), made, now);
}

/**
 * Adds the missing slots of the first part of a plan ({@link nextPartOf}). If this part is the whole plan, records the
 * date `made` as the last complete date of the schedule. Otherwise records how far the schedule is complete. Jobs then
 * add the remaining slots.
 */
function addPart(transaction: Transaction, plan: ProgramPlan, made: string, now: Date): void {
  const [programId] = plan.programIds;
  const { plan: part, progress } = nextPartOf(plan);
  const isWhole = progress.through === plan.through;
  addMissingSlots(transaction, part, now);
  markMaterialized(transaction, programId, isWhole ? { through: made, staff: 0 } : progress, now);
  if (!isWhole) requestExtension(transaction);
}
