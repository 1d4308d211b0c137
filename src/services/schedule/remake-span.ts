import type { Transaction } from "../../call.js";
import { requestExtension } from "../../postgres/job-queue.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { dropSummaries } from "../../postgres/tables/opportunity/summaries.js";
import {
  type MaterializationState,
  readMaterializations,
  rewindMaterialization,
  startNewGeneration,
} from "../../postgres/tables/schedule/materialization.js";
import type { SlotPlan } from "../../postgres/tables/schedule/planned-slots.js";
import {
  type DisplacedWanted,
  previewSlots,
  type SlotChanges,
} from "../../postgres/tables/schedule/schedule-preview.js";
import {
  addMissingSlots,
  lockChangingSlots,
  retainUnfitSlotsOf,
  withdrawLockedSlots,
} from "../../postgres/tables/schedule/slot-plan.js";
import { changeableSpan, commonDates, type DateSpan, widestSpan } from "../../scheduling/horizon.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { addCalendarDays, previousDate } from "../../scheduling/local-date.js";
import { isMade } from "./materialize.js";
import { hasRoomFor } from "./plan-budget.js";
import { inputsWithin, MAX_SLOTS_IN_PART } from "./plan-parts.js";
import {
  type HolidayChange,
  joinPlans,
  type PlanChanges,
  type PlanInputs,
  planOn,
  readPlanInputs,
} from "./plan-slots.js";

/** A change that affects programs, and the dates on which it can change slots. */
export interface SpanChange {
  readonly programIds: readonly string[];
  /**
   * The dates on which the change can affect slots. Dates before today, and dates after the last date on which a
   * program can have slots, are ignored.
   */
  readonly span: DateSpan;
  readonly changes: PlanChanges;
  /** The only practitioner whose slots change; undefined for all practitioners. */
  readonly practitionerId?: string | undefined;
  readonly displaced?: DisplacedWanted;
  /** The highest number of open slots that the tenant may have. */
  readonly maxOpenSlots: number;
}

const NO_CHANGES: SlotChanges = { added: 0, withdrawn: 0, displaced: 0, firstDisplacedIds: [] };

/** Returns the changes that {@link remakeSpan} would make. Writes nothing. */
export async function previewSpan(transaction: Transaction, change: SpanChange, nowMs: number): Promise<SlotChanges> {
  const plan = await planSpan(transaction, change, nowMs);
  if (plan === undefined) return NO_CHANGES;
  return previewSlots(transaction, plan, new Date(nowMs), change.displaced);
}

/**
 * Updates the slots of programs on a range of dates for a change that the same transaction writes. Returns the changes.
 * The transaction must hold the exclusive calendar lock, so that no other transaction creates slots.
 *
 * Compares the slots with the plan of the programs after the change:
 * - Deletes free slots that are not in the plan.
 * - Keeps occupied slots that are not in the plan. Their appointments become displaced.
 * - Adds the slots of the plan that do not exist. If they are more than {@link MAX_SLOTS_IN_PART}, or the tenant would
 *   exceed `maxOpenSlots`, jobs add them later.
 *
 * A program that never had a schedule gets no slots, but its overbooked appointments can become displaced.
 */
export async function remakeSpan(transaction: Transaction, change: SpanChange, nowMs: number): Promise<SlotChanges> {
  const plan = await planSpan(transaction, change, nowMs);
  if (plan === undefined) return NO_CHANGES;
  const now = new Date(nowMs);
  startNewGeneration(transaction, plan.programIds);
  const [changing, done] = await Promise.all([
    lockChangingSlots(transaction, plan, now),
    previewSlots(transaction, plan, now, change.displaced),
  ]);
  withdrawLockedSlots(transaction, plan, now, changing);
  if (done.added > 0) await addOrAsk(transaction, plan, done.added, change.maxOpenSlots, now);
  return done;
}

/**
 * The opportunity indicators count the days that patients wait for a visit. The wait ends on the local date of the
 * appointment. This date can be after today, because an appointment can be imported as ATTENDED before its start. It is
 * at most this many days after today.
 */
const LAST_WAIT_DAYS = 2;

/**
 * Updates the slots of one date for a holiday change that the same transaction writes. `programIds` must be all
 * programs of the tenant that have a schedule.
 *
 * A holiday can also change the waits that the opportunity indicators count in business days. So for a date at most
 * {@link LAST_WAIT_DAYS} days after today, marks the tenant's summaries of waits (`opportunity_summaries`) as not
 * built. A job builds them again.
 */
export async function remakeDate(
  transaction: Transaction,
  programIds: readonly string[],
  { date, isHoliday }: HolidayChange,
  nowMs: number,
): Promise<void> {
  if (date <= addCalendarDays(localDateAt(nowMs), LAST_WAIT_DAYS)) dropSummaries(transaction);
  const span = { from: date, through: date };
  const changes = { holiday: { date, isHoliday } };
  await remakeSpan(transaction, { programIds, span, changes, maxOpenSlots: Number.POSITIVE_INFINITY }, nowMs);
}

/**
 * Compares the future slots of an appointment with the schedule of its program:
 * - Marks each slot that the schedule does not have as `retained`, and stores the cause (`DisplacementCause`). Such a
 *   slot exists only for the appointment, which is then displaced.
 * - Adds missing slots of the schedule, for the practitioner and the date of the appointment. Example: a retained slot
 *   is at another location than the schedule's slot at that time. The schedule's slot is then missing.
 *
 * The transaction must have assigned the slots to the appointment, and must hold the shared locks of the calendar and
 * the program.
 */
export async function retainUnfit(
  transaction: Transaction,
  { id, programId, practitionerId, localDate }: TakenPlace,
  nowMs: number,
): Promise<void> {
  const span = { from: localDate, through: localDate };
  const change = { programIds: [programId], span, changes: {}, practitionerId, maxOpenSlots: Number.POSITIVE_INFINITY };
  const plan = await planSpan(transaction, change, nowMs);
  if (plan === undefined) return;
  const now = new Date(nowMs);
  retainUnfitSlotsOf(transaction, id, plan, now);
  addMissingSlots(transaction, plan, now);
}

/** The id of an appointment, and the program, practitioner and date of its slots. */
type TakenPlace = Pick<AppointmentRecord, "id" | "programId" | "practitionerId" | "localDate">;

/**
 * Plans the slots of the programs on the dates of a change. Returns undefined if no slot can change: there are no
 * programs or no dates that can have slots, or a holiday is after the slots of all rules.
 */
async function planSpan(
  transaction: Transaction,
  { programIds, span, changes, practitionerId }: SpanChange,
  nowMs: number,
): Promise<SlotPlan | undefined> {
  const widest = commonDates(span, widestSpan(nowMs));
  if (widest === undefined || programIds.length === 0) return undefined;
  const [states, inputs] = await Promise.all([
    readMaterializations(transaction, programIds),
    Promise.all(programIds.map((id) => readPlanInputs(transaction, id, widest))),
  ]);
  const isMadeFor = (state: MaterializationState) => changeableSpan(state, nowMs).through >= widest.from;
  if (changes.holiday !== undefined && ![...states.values()].some(isMadeFor)) return undefined;
  const parts = inputs.map((each) => planWithRuns(each, changes, states.get(each.programId), nowMs));
  return joinPlans(parts, widest, practitionerId);
}

/**
 * Plans the slots of a program on the dates of `inputs.span` whose slots can change ({@link changeableSpan}). The plan
 * has no slots if there are no such dates, or if the program never had a schedule.
 */
function planWithRuns(
  inputs: PlanInputs,
  changes: PlanChanges,
  state: MaterializationState | undefined,
  nowMs: number,
): SlotPlan {
  const made = state && isMade(state) ? commonDates(inputs.span, changeableSpan(state, nowMs)) : undefined;
  return made === undefined ? planOn(inputs, { ...changes, rules: [] }) : planOn(inputsWithin(inputs, made), changes);
}

async function addOrAsk(
  transaction: Transaction,
  plan: SlotPlan,
  added: number,
  maxOpenSlots: number,
  now: Date,
): Promise<void> {
  if (added <= MAX_SLOTS_IN_PART && (await hasRoomFor(transaction, added, maxOpenSlots, now.getTime()))) {
    addMissingSlots(transaction, plan, now);
    return;
  }
  rewindMaterialization(transaction, plan.programIds, previousDate(plan.from));
  requestExtension(transaction);
}
