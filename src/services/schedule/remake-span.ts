import type { Transaction } from "../../call.js";
import { requestExtension } from "../../postgres/job-queue.js";
import {
  countOpenSlots,
  findMadePrograms,
  rewindMaterialization,
  startNewGeneration,
} from "../../postgres/tables/schedule/materialization.js";
import type { SlotPlan } from "../../postgres/tables/schedule/planned-slots.js";
import {
  previewSlots,
  type RetainedWanted,
  type SlotChanges,
} from "../../postgres/tables/schedule/schedule-preview.js";
import { addMissingSlots, lockChangingSlots, withdrawLockedSlots } from "../../postgres/tables/schedule/slot-plan.js";
import { type DateSpan, horizonFrom } from "../../scheduling/horizon.js";
import { previousDate } from "../../scheduling/local-date.js";
import { MAX_SLOTS_IN_PART } from "./plan-parts.js";
import { type HolidayChange, joinPlans, type PlanChanges, planOn, readPlanGround } from "./plan-slots.js";

/** A change around programs, and the slots that it can be about. */
export interface SpanChange {
  readonly programIds: readonly string[];
  /** Of it, only what schedules are made for counts. */
  readonly span: DateSpan;
  readonly changes: PlanChanges;
  /** The one practitioner whom the change is about; undefined where it is about everybody. */
  readonly practitionerId?: string | undefined;
  readonly retained?: RetainedWanted;
  /** How many open slots the tenant may have. */
  readonly maxOpenSlots: number;
}

const NO_CHANGES: SlotChanges = { added: 0, withdrawn: 0, retained: 0, firstRetainedIds: [] };
const NOBODY: RetainedWanted = { limit: 0 };

/** Says what {@link remakeSpan} would do, and does nothing. */
export async function previewSpan(transaction: Transaction, change: SpanChange, nowMs: number): Promise<SlotChanges> {
  const plan = await planSpan(transaction, change, nowMs);
  if (plan === undefined) return NO_CHANGES;
  return previewSlots(transaction, plan, new Date(nowMs), change.retained ?? NOBODY);
}

/**
 * Remakes the slots of programs on the dates of a span for a change that is written in the same transaction, which owns the
 * calendar, so that nobody else makes slots. What no longer fits is withdrawn at once; what fits again is added, by jobs where
 * it is more than a transaction should add, or the tenant has no room for it. A schedule that was never made gets none of it: what
 * is retained there is booked beside it. Says what it does.
 */
export async function remakeSpan(transaction: Transaction, change: SpanChange, nowMs: number): Promise<SlotChanges> {
  const plan = await planSpan(transaction, change, nowMs);
  if (plan === undefined) return NO_CHANGES;
  const now = new Date(nowMs);
  startNewGeneration(transaction, plan.programIds);
  lockChangingSlots(transaction, plan, now);
  const done = await previewSlots(transaction, plan, now, change.retained ?? NOBODY);
  withdrawLockedSlots(transaction, plan, now);
  if (done.added > 0) await addOrAsk(transaction, plan, done.added, change.maxOpenSlots, now);
  return done;
}

/** Remakes one date in schedules, which are to be all of the tenant, for a holiday that is about to be written. */
export async function remakeDate(
  transaction: Transaction,
  programIds: readonly string[],
  { date, isHoliday }: HolidayChange,
  nowMs: number,
): Promise<void> {
  const span = { from: date, through: date };
  const changes = { holiday: { date, isHoliday } };
  await remakeSpan(transaction, { programIds, span, changes, maxOpenSlots: Number.POSITIVE_INFINITY }, nowMs);
}

async function planSpan(
  transaction: Transaction,
  { programIds, span, changes, practitionerId }: SpanChange,
  nowMs: number,
): Promise<SlotPlan | undefined> {
  const horizon = horizonFrom(nowMs);
  const from = span.from > horizon.from ? span.from : horizon.from;
  const through = span.through < horizon.through ? span.through : horizon.through;
  if (from > through || programIds.length === 0) return undefined;
  const made = { from, through };
  const [withSchedule, grounds] = await Promise.all([
    findMadePrograms(transaction, programIds),
    Promise.all(programIds.map((id) => readPlanGround(transaction, id, made))),
  ]);
  const plans = grounds.map((ground) => planOn(ground, changes));
  const parts = plans.map((plan) => (withSchedule.has(plan.programIds[0]) ? plan : withoutRuns(plan)));
  return joinPlans(parts, made, practitionerId);
}

function withoutRuns(plan: SlotPlan): SlotPlan {
  return { ...plan, runs: [] };
}

async function addOrAsk(
  transaction: Transaction,
  plan: SlotPlan,
  added: number,
  maxOpenSlots: number,
  now: Date,
): Promise<void> {
  if (added <= MAX_SLOTS_IN_PART && (await hasRoomFor(transaction, added, maxOpenSlots, now))) {
    addMissingSlots(transaction, plan, now);
    return;
  }
  rewindMaterialization(transaction, plan.programIds, previousDate(plan.from));
  requestExtension(transaction);
}

async function hasRoomFor(transaction: Transaction, added: number, most: number, now: Date): Promise<boolean> {
  if (most === Number.POSITIVE_INFINITY) return true;
  return (await countOpenSlots(transaction, now, most)) + added <= most;
}
