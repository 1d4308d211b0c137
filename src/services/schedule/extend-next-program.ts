import type { Transaction } from "../../call.js";
import { tryShareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { hasDueProgram, lockNextDueProgram } from "../../postgres/tables/schedule/due-programs.js";
import {
  countOpenSlots,
  markMaterialized,
  readMaterialization,
} from "../../postgres/tables/schedule/materialization.js";
import { addMissingSlots, deletePastSlots } from "../../postgres/tables/schedule/slot-plan.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import { addCalendarDays, previousDate } from "../../scheduling/local-date.js";
import { MAX_SLOTS_IN_PART, nextPartOf, type PlanPart } from "./plan-parts.js";
import { planOn, readPlanGround } from "./plan-slots.js";

/** What became of a turn: a part was added to a schedule; */
export type Turn =
  | { readonly kind: "ADDED"; readonly programId: string; readonly through: string }
  /** somebody is changing what is due, and goes first; */
  | { readonly kind: "BUSY" }
  /** the tenant has as many open slots as it may have; */
  | { readonly kind: "FULL"; readonly openSlots: number }
  /** every schedule of an active program is made up to the horizon. */
  | { readonly kind: "DONE" };

/** How long free slots are kept that nobody booked in time. */
const KEEP_PAST_SLOTS_MS = 7 * 86_400_000;

/**
 * Adds a part to the schedule of the tenant that is furthest behind. It waits for nobody: programs that somebody has locked
 * are left to them, and while somebody changes the holidays nothing is done at all.
 */
export async function extendNextProgram(transaction: Transaction, nowMs: number, maxOpenSlots: number): Promise<Turn> {
  const now = new Date(nowMs);
  const { through } = horizonFrom(nowMs);
  if (!(await tryShareCalendar(transaction))) return { kind: "BUSY" };
  const [programId, openSlots] = await Promise.all([
    lockNextDueProgram(transaction, through),
    countOpenSlots(transaction, now, maxOpenSlots),
  ]);
  if (programId === undefined) return { kind: (await hasDueProgram(transaction, through)) ? "BUSY" : "DONE" };
  if (openSlots >= maxOpenSlots) return { kind: "FULL", openSlots };
  const part = await planPart(transaction, programId, nowMs, Math.min(MAX_SLOTS_IN_PART, maxOpenSlots - openSlots));
  addMissingSlots(transaction, part.plan, now);
  markMaterialized(transaction, programId, part.progress, now);
  if (part.progress.through === through) {
    deletePastSlots(transaction, programId, new Date(nowMs - KEEP_PAST_SLOTS_MS));
  }
  return { kind: "ADDED", programId, through: part.progress.through };
}

/** A date that is over has no part any more: what comes behind it begins with all practitioners. */
async function planPart(
  transaction: Transaction,
  programId: string,
  nowMs: number,
  maxSlots: number,
): Promise<PlanPart> {
  const horizon = horizonFrom(nowMs);
  const made = await readMaterialization(transaction, programId);
  const next = addCalendarDays(made.through ?? previousDate(horizon.from), 1);
  const [from, staff] = next >= horizon.from ? [next, made.staff] : [horizon.from, 0];
  const ground = await readPlanGround(transaction, programId, { from, through: horizon.through });
  return nextPartOf(planOn(ground), staff, maxSlots);
}
