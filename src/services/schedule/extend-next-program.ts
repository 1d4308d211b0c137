import type { Transaction } from "../../call.js";
import { tryShareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { hasDueProgram, lockNextDueProgram } from "../../postgres/tables/schedule/due-programs.js";
import {
  countOpenSlots,
  type MaterializationState,
  markMaterialized,
  markUpToDate,
  readMaterialization,
} from "../../postgres/tables/schedule/materialization.js";
import { addMissingSlots, deletePastSlots, withdrawSlots } from "../../postgres/tables/schedule/slot-plan.js";
import { changeableSpan, type DateSpan, plannedThrough, widestSpan } from "../../scheduling/horizon.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { addCalendarDays, laterDate, previousDate } from "../../scheduling/local-date.js";
import { fitPlansInto } from "./plan-budget.js";
import { inputsWithin, MAX_SLOTS_IN_PART, nextPartOf, type PlanPart, throughLastDate } from "./plan-parts.js";
import { planOn, readPlanInputs } from "./plan-slots.js";

/**
 * The result of {@link extendNextProgram}. ADDED: the next part of a schedule was made ({@link nextPartOf}). All
 * slots on dates up to `through` now exist. On the date after `through`, some practitioners can have their slots and
 * others not yet.
 */
export type Turn =
  | { readonly kind: "ADDED"; readonly programId: string; readonly through: string }
  /**
   * The outdated slots of a program were compared with its rules. Those that did not fit were withdrawn
   * ({@link withdrawSlots}).
   */
  | { readonly kind: "COMPARED"; readonly programId: string }
  /**
   * Another transaction holds the exclusive calendar lock, or all programs that need slots or have outdated slots are
   * locked.
   */
  | { readonly kind: "BUSY" }
  /** The tenant has reached its limit of open slots: free slots that start in the future. */
  | { readonly kind: "FULL"; readonly openSlots: number }
  /** No program is due ({@link lockNextDueProgram}): no schedule needs slots, and no program has outdated slots. */
  | { readonly kind: "DONE" };

/** How long free slots are kept after their start, in milliseconds. */
const KEEP_PAST_SLOTS_MS = 7 * 86_400_000;

/**
 * Finds the next program that has outdated slots or needs slots ({@link lockNextDueProgram}). Skips locked programs.
 * Then does one of these:
 * - If a change of its rules or practitioners left outdated slots, withdraws those that no longer fit
 *   ({@link withdrawSlots}).
 * - Otherwise adds the next slots to its schedule ({@link nextPartOf}). Adds none if the tenant has reached its limit
 *   of open slots. When the schedule reaches its last date ({@link plannedThrough}), deletes free slots of the program
 *   that began more than {@link KEEP_PAST_SLOTS_MS} ago.
 *
 * Does nothing while a transaction holds the calendar exclusively, for example to change the holidays.
 */
export async function extendNextProgram(transaction: Transaction, nowMs: number, maxOpenSlots: number): Promise<Turn> {
  const now = new Date(nowMs);
  const today = localDateAt(nowMs);
  if (!(await tryShareCalendar(transaction))) return { kind: "BUSY" };
  const programId = await lockNextDueProgram(transaction, today);
  if (programId === undefined) return { kind: (await hasDueProgram(transaction, today)) ? "BUSY" : "DONE" };
  const made = await readMaterialization(transaction, programId);
  if (made.outdatedFrom !== undefined) {
    const { through } = changeableSpan(made, nowMs);
    await withdrawOutdated(transaction, programId, { from: laterDate(made.outdatedFrom, today), through }, nowMs);
    return { kind: "COMPARED", programId };
  }
  const room = await countRoom(transaction, maxOpenSlots, nowMs);
  if (room <= 0) return { kind: "FULL", openSlots: maxOpenSlots };
  const through = plannedThrough(made, nowMs);
  const part = await planPart(transaction, programId, made, { from: today, through }, room);
  addMissingSlots(transaction, part.plan, now);
  markMaterialized(transaction, programId, part.progress, now);
  if (part.progress.through === through) {
    await deletePastSlots(transaction, programId, new Date(nowMs - KEEP_PAST_SLOTS_MS));
  }
  return { kind: "ADDED", programId, through: part.progress.through };
}

/**
 * Returns the `maxSlots` of the next part ({@link nextPartOf}): {@link MAX_SLOTS_IN_PART}, or fewer if the tenant would
 * otherwise exceed `maxOpenSlots`. Counting open slots is slow. So it is skipped if the plans of all active programs
 * together have at most `maxOpenSlots` slots.
 */
async function countRoom(transaction: Transaction, maxOpenSlots: number, nowMs: number): Promise<number> {
  if (await fitPlansInto(transaction, maxOpenSlots, nowMs)) return MAX_SLOTS_IN_PART;
  const openSlots = await countOpenSlots(transaction, new Date(nowMs), maxOpenSlots);
  return Math.min(MAX_SLOTS_IN_PART, maxOpenSlots - openSlots);
}

/**
 * Withdraws slots of a program from the first of `dates` on: those that do not fit its rules and practitioners, and all
 * slots of rules after the last of `dates`. Records that the program has no outdated slots.
 */
async function withdrawOutdated(
  transaction: Transaction,
  programId: string,
  dates: DateSpan,
  nowMs: number,
): Promise<void> {
  if (dates.from <= dates.through) {
    const span = { from: dates.from, through: widestSpan(nowMs).through };
    const inputs = inputsWithin(await readPlanInputs(transaction, programId, span), dates);
    await withdrawSlots(transaction, throughLastDate(planOn(inputs), nowMs), new Date(nowMs));
  }
  markUpToDate(transaction, programId);
}

/**
 * Plans the next slots of a program, beginning after the slots that its schedule already has. If the schedule ends in
 * the past, the plan begins today, because past slots are never added.
 */
async function planPart(
  transaction: Transaction,
  programId: string,
  made: MaterializationState,
  horizon: DateSpan,
  maxSlots: number,
): Promise<PlanPart> {
  const { through = previousDate(horizon.from) } = made;
  const next = addCalendarDays(through, 1);
  const [from, staff] = next >= horizon.from ? [next, made.staff] : [horizon.from, 0];
  const inputs = await readPlanInputs(transaction, programId, { from, through: horizon.through });
  return nextPartOf(planOn(inputs), staff, maxSlots);
}
