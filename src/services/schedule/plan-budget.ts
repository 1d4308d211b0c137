import type { Transaction } from "../../call.js";
import { type CupoError, validationFailed } from "../../errors.js";
import { countOpenSlots, type MaterializationState } from "../../postgres/tables/schedule/materialization.js";
import { HORIZON_DAYS, horizonFrom } from "../../scheduling/horizon.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { largestPlan } from "../../scheduling/plan-size.js";
import type { ProgramRuleAttributes } from "../../scheduling/program-rule-attributes.js";
import { firstSent, type SentAttributes } from "./program-rule-change.js";

/** Limits on the number of slots. */
export interface SlotLimits {
  /** For the rules and practitioners of one program, within the dates of one schedule. */
  readonly perPlan: number;
  /** For the open future slots of one tenant. */
  readonly perTenant: number;
}

/** The inputs of the size of a plan. */
export interface PlanSizeInputs {
  readonly rules: readonly ProgramRuleAttributes[];
  readonly practitioners: number;
}

/** A change of the size of a plan. */
export interface PlanChange {
  readonly before: PlanSizeInputs;
  readonly after: PlanSizeInputs;
  /** The request field on which an error is reported. */
  readonly field: string;
}

/** The fields that can give a rule more slots. The most likely one comes first. */
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
 * Returns the field to report when a rule makes a plan too large: the first of {@link CAN_ENLARGE} that the request
 * contains.
 */
export function enlargingField(sent: SentAttributes): string {
  return firstSent(CAN_ENLARGE, sent);
}

/**
 * Checks a change against the slot limits of the program and the tenant. Throws 422 TOO_MANY with the number of slots.
 *
 * A change that does not make the plan larger always passes. Limits can be lowered later, and a tenant above its limit
 * must be able to make its plans smaller.
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

/**
 * Requires that the tenant has not reached its limit of open slots, if the schedule does not reach the horizon yet.
 * Otherwise throws 422 TOO_MANY.
 */
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
  const message = `the tenant would have more than ${most} open slots, the most that it may have: make slots longer, or deactivate a rule or program`;
  return validationFailed([{ code: "TOO_MANY", field, message }], "open_slots");
}
