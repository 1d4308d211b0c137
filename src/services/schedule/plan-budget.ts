import type { Transaction } from "../../call.js";
import { type CupoError, validationFailed } from "../../errors.js";
import { countOpenSlots, type MaterializationState } from "../../postgres/tables/schedule/materialization.js";
import { HORIZON_DAYS, horizonFrom } from "../../scheduling/horizon.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { largestPlan } from "../../scheduling/plan-size.js";
import type { ProgramRuleTerms } from "../../scheduling/program-rule-terms.js";
import { firstSent, type SentAttributes } from "./program-rule-change.js";

/** How many slots there may be. */
export interface SlotLimits {
  /** Within the dates that a schedule is made for, by the rules and practitioners of one program. */
  readonly perPlan: number;
  /** Open ones ahead, of a whole tenant. */
  readonly perTenant: number;
}

/** What the slots of a program are planned from. */
export interface PlanTerms {
  readonly rules: readonly ProgramRuleTerms[];
  readonly practitioners: number;
}

/** A change of the terms of a program's plan. */
export interface PlanChange {
  readonly before: PlanTerms;
  readonly after: PlanTerms;
  /** The field of the request that an error names. */
  readonly field: string;
}

/** Whatever can make a rule have more slots, the likeliest first. */
const CAN_ENLARGE = [
  "slotDurationMinutes",
  "startsAtLocal",
  "endsAtLocal",
  "weekdays",
  "validFrom",
  "validTo",
  "active",
] as const;

/** The field that a plan is too large by, of those that a request for a rule sent. */
export function enlargingField(sent: SentAttributes): string {
  return firstSent(CAN_ENLARGE, sent);
}

/**
 * Refuses a change that makes a plan larger than it may be, or for which the tenant has no room: 422 TOO_MANY with the
 * number. A change that leaves a plan as large as it was, or makes it smaller, always passes: limits can have been lowered,
 * and whoever is over one must be able to get below it.
 */
export async function requireRoomForPlan(
  transaction: Transaction,
  { before, after, field }: PlanChange,
  { perPlan, perTenant }: SlotLimits,
  nowMs: number,
): Promise<void> {
  const today = localDateAt(nowMs);
  const [old, planned] = [before, after].map(({ rules, practitioners }) => practitioners * largestPlan(rules, today));
  if (planned === undefined || old === undefined || planned <= old) return;
  if (planned > perPlan) {
    const message = `the program would have ${planned} slots in ${HORIZON_DAYS + 1} days; at most ${perPlan} are allowed`;
    throw validationFailed([{ code: "TOO_MANY", field, message }], "planned_slots");
  }
  const open = await countOpenSlots(transaction, new Date(nowMs), perTenant);
  if (open + planned - old > perTenant) throw tenantIsFull(field, perTenant);
}

/** Refuses to make more of a schedule where the tenant has all the open slots that it may have: 422 TOO_MANY. */
export async function requireRoomForSchedule(
  transaction: Transaction,
  { through }: Pick<MaterializationState, "through">,
  { perTenant }: SlotLimits,
  nowMs: number,
): Promise<void> {
  if (through !== undefined && through >= horizonFrom(nowMs).through) return;
  const open = await countOpenSlots(transaction, new Date(nowMs), perTenant);
  if (open >= perTenant) throw tenantIsFull("programId", perTenant);
}

function tenantIsFull(field: string, most: number): CupoError {
  const message = `the tenant would have more than ${most} open slots, and may not`;
  return validationFailed([{ code: "TOO_MANY", field, message }], "open_slots");
}
