import type { Transaction } from "../../call.js";
import { type CupoError, validationFailed } from "../../errors.js";
import { countOpenSlots, type MaterializationState } from "../../postgres/tables/schedule/materialization.js";
import { type PlannedProgram, readPlannedPrograms } from "../../postgres/tables/schedule/plan-sizes.js";
import { plannedDays, plannedThrough } from "../../scheduling/horizon.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { largestPlan } from "../../scheduling/plan-size.js";
import type { ProgramRuleAttributes } from "../../scheduling/program-rule-attributes.js";
import { firstSent, type SentAttributes } from "./program-rule-change.js";

/** Limits on the number of slots. */
export interface SlotLimits {
  /** How many slots the plan of one program may have, over all dates of its schedule. */
  readonly perPlan: number;
  /** How many open slots one tenant may have. Open slots are free slots that start in the future. */
  readonly perTenant: number;
}

/** The values that determine the number of slots in a plan. */
export interface PlanSizeInputs {
  readonly rules: readonly ProgramRuleAttributes[];
  readonly practitioners: number;
}

/** A change of the size of a plan. */
export interface PlanChange {
  readonly before: PlanSizeInputs;
  readonly after: PlanSizeInputs;
  /** How many days after today the schedule of the program ends. */
  readonly days: number;
  /** The request field on which an error is reported. */
  readonly field: string;
}

/**
 * The request fields that can make the plan of a rule larger. The field that most likely did so comes first. The fields
 * about holidays are not among them, because {@link largestPlan} ignores holidays.
 */
const CAN_ENLARGE = [
  "slotDurationMinutes",
  "startsAtLocal",
  "endsAtLocal",
  "weekdays",
  "validFrom",
  "validTo",
  "active",
] as const;

/**
 * Returns the request field that an error names if a rule makes a plan too large. This is the first field in
 * {@link CAN_ENLARGE} that the request contains, or `slotDurationMinutes` if it contains none of them.
 */
export function enlargingField(sent: SentAttributes): string {
  return firstSent(CAN_ENLARGE, sent);
}

/**
 * Requires that after a change neither the program nor the tenant exceeds its slot limit. Otherwise throws 422 TOO_MANY
 * on `field`.
 *
 * A change that does not make the plan larger always passes. So if a limit was lowered and a tenant is now above it,
 * the tenant can still make its plans smaller.
 */
export async function requireRoomForPlan(
  transaction: Transaction,
  { before, after, days, field }: PlanChange,
  { perPlan, perTenant }: SlotLimits,
  nowMs: number,
): Promise<void> {
  const today = localDateAt(nowMs);
  const [old, planned] = [slotsIn(before, today, days), slotsIn(after, today, days)];
  if (planned <= old) return;
  if (planned > perPlan) throw planIsTooLarge(field, planned, days, perPlan);

  if (!(await hasRoomFor(transaction, planned - old, perTenant, nowMs))) throw tenantIsFull(field, perTenant);
}

/**
 * Requires that the tenant is below its limit of open slots. Otherwise throws 422 TOO_MANY on `programId`. Does nothing
 * for a program that needs no more slots: it is inactive, or its schedule already reaches its last date
 * ({@link plannedThrough}).
 */
export async function requireRoomForSchedule(
  transaction: Transaction,
  { isActive, through, horizonDays }: Pick<MaterializationState, "isActive" | "through" | "horizonDays">,
  { perTenant }: SlotLimits,
  nowMs: number,
): Promise<void> {
  if (!isActive) return;
  if (through !== undefined && through >= plannedThrough({ horizonDays }, nowMs)) return;
  if (!(await hasRoomFor(transaction, 1, perTenant, nowMs))) throw tenantIsFull("programId", perTenant);
}

/**
 * Returns the estimated number of slots that new horizons add to the schedules of the tenant's active programs.
 * `horizonOf` returns the new horizon of a program in days.
 *
 * Throws 422 TOO_MANY on `horizonDays` if a program or the tenant would exceed its slot limit. A program whose schedule
 * does not get longer is never rejected, even if it is above its limit.
 */
export async function requireRoomForHorizon(
  transaction: Transaction,
  horizonOf: (program: PlannedProgram) => number,
  { perPlan, perTenant }: SlotLimits,
  nowMs: number,
): Promise<number> {
  const today = localDateAt(nowMs);
  let added = 0;
  for (const program of await readPlannedPrograms(transaction)) {
    const days = plannedDays({ horizonDays: horizonOf(program) });
    if (days <= plannedDays(program)) continue;
    const planned = slotsIn(program, today, days);
    if (planned > perPlan) throw planIsTooLarge("horizonDays", planned, days, perPlan);
    added += planned - slotsIn(program, today, plannedDays(program));
  }
  if (added > 0 && !(await hasRoomFor(transaction, added, perTenant, nowMs)))
    throw tenantIsFull("horizonDays", perTenant);
  return added;
}

/** Whether the tenant would have at most `perTenant` open slots if `added` open slots were added. */
export async function hasRoomFor(
  transaction: Transaction,
  added: number,
  perTenant: number,
  nowMs: number,
): Promise<boolean> {
  if (perTenant === Number.POSITIVE_INFINITY) return true;
  const most = perTenant - added;
  if (await fitPlansInto(transaction, most, nowMs)) return true;
  return (await countOpenSlots(transaction, new Date(nowMs), perTenant)) <= most;
}

/**
 * Whether the plans of all active programs have at most `most` slots together. The tenant then cannot get more open
 * slots than `most`. This check reads no slots, so for a tenant with many slots it is faster than
 * {@link countOpenSlots}.
 */
export async function fitPlansInto(transaction: Transaction, most: number, nowMs: number): Promise<boolean> {
  const today = localDateAt(nowMs);
  let planned = 0;
  for (const program of await readPlannedPrograms(transaction)) {
    planned += slotsIn(program, today, plannedDays(program));
  }
  return planned <= most;
}

function slotsIn({ practitioners, rules }: PlanSizeInputs, today: string, days: number): number {
  return practitioners * largestPlan(rules, today, days);
}

function planIsTooLarge(field: string, planned: number, days: number, most: number): CupoError {
  const message = `the program would have ${planned} slots in ${days + 1} days; at most ${most} are allowed`;
  return validationFailed([{ code: "TOO_MANY", field, message }], "planned_slots");
}

function tenantIsFull(field: string, most: number): CupoError {
  const message = `the tenant would have more than ${most} open slots, the most that it may have: make slots longer, or deactivate a rule or program`;
  return validationFailed([{ code: "TOO_MANY", field, message }], "open_slots");
}
