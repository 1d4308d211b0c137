import type { Transaction } from "../../call.js";
import { requestExtension } from "../../postgres/job-queue.js";
import {
  type MaterializationState,
  markMaterialized,
  readMaterialization,
  startNewGeneration,
  wantMaterialization,
} from "../../postgres/tables/schedule/materialization.js";
import { previewSlots, type SlotChanges } from "../../postgres/tables/schedule/schedule-preview.js";
import { addMissingSlots, withdrawSlots } from "../../postgres/tables/schedule/slot-plan.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import { previousDate } from "../../scheduling/local-date.js";
import { nextPartOf } from "./plan-parts.js";
import { type PlanChanges, type PlanGround, type ProgramPlan, planOn, readPlanGround } from "./plan-slots.js";

/** How far the schedule of a program is made, and what it is planned from up to the horizon. */
export interface ScheduleGround {
  readonly state: MaterializationState;
  readonly ground: PlanGround;
}

/** Reads the ground of a program's schedule in one turn; `joining` are practitioners who are about to work in it. */
export async function readScheduleGround(
  transaction: Transaction,
  programId: string,
  nowMs: number,
  joining?: readonly string[],
): Promise<ScheduleGround> {
  const [state, ground] = await Promise.all([
    readMaterialization(transaction, programId),
    readPlanGround(transaction, programId, horizonFrom(nowMs), joining),
  ]);
  return { state, ground };
}

/**
 * Makes the schedule of a program, which the transaction has locked behind its share of the calendar: what does not fit goes
 * at once, what is missing comes up to the horizon; where that is more than a transaction should add, the first part comes
 * now and jobs add the others. Where nothing has changed, nothing does. A program that is not active gets no slots until it is.
 */
export function materializeProgram(transaction: Transaction, { state, ground }: ScheduleGround, nowMs: number): void {
  carryOut(transaction, state, planOn(ground), nowMs);
}

/**
 * Starts a new generation of a program's schedule for a change of its rules, its practitioners, its place or its activity that is
 * sent in the same transaction, under the same locks: what no longer fits is withdrawn before the change commits, so that nobody
 * can book it any more. A schedule that was never made is asked for, if the change has made the program complete. `changes` are
 * what the change makes otherwise than it was read.
 */
export function remakeProgram(
  transaction: Transaction,
  { state, ground }: ScheduleGround,
  changes: PlanChanges,
  nowMs: number,
): void {
  const { programId } = ground;
  if (!isMade(state)) return askForSchedule(transaction, programId, nowMs);
  startNewGeneration(transaction, [programId]);
  carryOut(transaction, state, planOn(ground, changes), nowMs);
}

/**
 * Has jobs make the schedule of a locked program as soon as the transaction has committed, if it is complete and active by
 * then: for whatever can be what a program lacked.
 */
export function askForSchedule(transaction: Transaction, programId: string, nowMs: number): void {
  wantMaterialization(transaction, programId, previousDate(horizonFrom(nowMs).from));
  requestExtension(transaction);
}

/** Whether a schedule was ever made. */
export function isMade({ through, at }: MaterializationState): boolean {
  return through !== undefined && at !== undefined;
}

/**
 * Says what `remakeProgram` would do to the slots of a program if its rules or practitioners were these, and through which
 * date it looked. Writes nothing. Undefined for a schedule that was never made, to which it would do nothing.
 */
export async function previewRemake(
  transaction: Transaction,
  programId: string,
  changes: Pick<PlanChanges, "rules" | "practitionerIds">,
  nowMs: number,
  limit: number,
): Promise<(SlotChanges & { readonly through: string }) | undefined> {
  const { state, ground } = await readScheduleGround(transaction, programId, nowMs, changes.practitionerIds);
  if (!isMade(state)) return undefined;
  const plan = planOn(ground, changes);
  return { ...(await previewSlots(transaction, plan, new Date(nowMs), { limit })), through: plan.through };
}

function carryOut(
  transaction: Transaction,
  { isActive }: MaterializationState,
  plan: ProgramPlan,
  nowMs: number,
): void {
  const now = new Date(nowMs);
  const [programId] = plan.programIds;
  withdrawSlots(transaction, plan, now);
  if (!isActive) {
    markMaterialized(transaction, programId, { through: previousDate(plan.from), staff: 0 }, now);
    return;
  }
  const part = nextPartOf(plan);
  addMissingSlots(transaction, part.plan, now);
  markMaterialized(transaction, programId, part.progress, now);
  if (part.progress.through < plan.through) requestExtension(transaction);
}
