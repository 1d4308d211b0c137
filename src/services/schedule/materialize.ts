import type { Transaction } from "../../call.js";
import { requestExtension } from "../../postgres/job-queue.js";
import {
  findMaterializedPrograms,
  markMaterialized,
  readMaterialization,
  startNewGeneration,
} from "../../postgres/tables/schedule/materialization.js";
import { previewSlots, type SlotChanges } from "../../postgres/tables/schedule/schedule-preview.js";
import {
  addMissingSlots,
  deletePastSlots,
  type SlotPlan,
  withdrawSlots,
} from "../../postgres/tables/schedule/slot-plan.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import { addCalendarDays } from "../../scheduling/local-date.js";
import { firstDatesOf, joinPlans, type PlanChanges, planSlots } from "./plan-slots.js";

/** How many slots a transaction adds at most. */
export const MAX_SLOTS_AT_ONCE = 20_000;
/** How long free slots are kept that nobody booked in time. */
const KEEP_PAST_SLOTS_MS = 7 * 86_400_000;

/**
 * Makes the schedule of a program, which the transaction has locked behind its share of the calendar: what does not fit goes
 * at once, what is missing comes up to the horizon; where that is more than a transaction should add, the first dates come
 * now and a job adds the others. Where nothing has changed, nothing does.
 */
export async function materializeProgram(transaction: Transaction, programId: string, nowMs: number): Promise<void> {
  const plan = await planSlots(transaction, programId, horizonFrom(nowMs));
  carryOut(transaction, programId, plan, nowMs);
}

/**
 * Starts a new generation of a program's schedule after a change of its rules or practitioners was sent, under the same
 * locks: what no longer fits is withdrawn before the change commits, so that nobody can book it any more. A schedule that
 * was never made stays so.
 */
export async function remakeProgram(transaction: Transaction, programId: string, nowMs: number): Promise<void> {
  const [{ through }, plan] = await Promise.all([
    readMaterialization(transaction, programId),
    planSlots(transaction, programId, horizonFrom(nowMs)),
  ]);
  if (through === undefined) return;
  startNewGeneration(transaction, [programId]);
  carryOut(transaction, programId, plan, nowMs);
}

/**
 * Remakes one date in every schedule of the tenant for a holiday that is about to be written. The transaction owns the
 * calendar, so nobody else makes slots.
 */
export async function remakeDate(
  transaction: Transaction,
  date: string,
  isHoliday: boolean,
  nowMs: number,
): Promise<void> {
  const { from, through } = horizonFrom(nowMs);
  if (date < from || date > through) return;
  const span = { from: date, through: date };
  const programIds = await findMaterializedPrograms(transaction);
  const changes = { holiday: { date, isHoliday } };
  const plans = await Promise.all(programIds.map((id) => planSlots(transaction, id, span, changes)));
  const plan = joinPlans(plans, span);
  startNewGeneration(transaction, programIds);
  withdrawSlots(transaction, plan, new Date(nowMs));
  addMissingSlots(transaction, plan, new Date(nowMs));
}

/**
 * Adds the next dates to the schedule of a program, locked as for {@link materializeProgram}, as many as a transaction
 * should, and says whether it is made up to the horizon then. One that was never made stays so and has nothing left to do.
 */
export async function extendProgram(transaction: Transaction, programId: string, nowMs: number): Promise<boolean> {
  const { through } = await readMaterialization(transaction, programId);
  const horizon = horizonFrom(nowMs);
  if (through === undefined || through >= horizon.through) return true;
  const next = addCalendarDays(through, 1);
  const span = { from: next > horizon.from ? next : horizon.from, through: horizon.through };
  const part = firstDatesOf(await planSlots(transaction, programId, span), MAX_SLOTS_AT_ONCE);
  addMissingSlots(transaction, part, new Date(nowMs));
  markMaterialized(transaction, programId, part.through, new Date(nowMs));
  deletePastSlots(transaction, programId, new Date(nowMs - KEEP_PAST_SLOTS_MS));
  return part.through === horizon.through;
}

/**
 * Says what `remakeProgram` would do to the slots of a program if its rules or practitioners were these, and through which
 * date it looked. Writes nothing. Undefined for a schedule that was never made, to which it would do nothing.
 */
export async function previewRemake(
  transaction: Transaction,
  programId: string,
  changes: Omit<PlanChanges, "holiday">,
  nowMs: number,
  limit: number,
): Promise<(SlotChanges & { readonly through: string }) | undefined> {
  const { through } = await readMaterialization(transaction, programId);
  if (through === undefined) return undefined;
  const plan = await planSlots(transaction, programId, horizonFrom(nowMs), changes);
  return { ...(await previewSlots(transaction, plan, new Date(nowMs), limit)), through: plan.through };
}

function carryOut(transaction: Transaction, programId: string, plan: SlotPlan, nowMs: number): void {
  const now = new Date(nowMs);
  const part = firstDatesOf(plan, MAX_SLOTS_AT_ONCE);
  withdrawSlots(transaction, plan, now);
  addMissingSlots(transaction, part, now);
  markMaterialized(transaction, programId, part.through, now);
  if (part.through < plan.through) requestExtension(transaction, programId);
}
