import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { SlotPlan } from "./planned-slots.js";
import { CAUSE, CAUSE_ID, FITS, IN_SCOPE, IS_REPLACED, IS_UNBLOCKED, PLAN, planBindings } from "./slot-judgement.js";

/**
 * Locks the future slots that carrying out a plan changes, all in the order of their ids: what becomes of them after that is
 * for this transaction alone to say.
 */
export function lockChangingSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  transaction.send(sql.raw(LOCK_CHANGING, planBindings(transaction, plan, now)));
}

/**
 * Takes out of the future slots what a plan does not have: free ones go, occupied ones are kept as retained, with the cause,
 * and those that were retained and fit again are ordinary ones from now on. The slots that change are locked first, as by
 * {@link lockChangingSlots}, and judged again then: so that one that is booked, moved from or cancelled meanwhile is neither
 * lost nor left. Where the cause becomes another, what staff decided about the one before is over.
 *
 * The transaction has the calendar and the programs, which come before slots in the one order of `tables/locks.ts`.
 * Set-based statements, whatever the number.
 */
export function withdrawSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  lockChangingSlots(transaction, plan, now);
  withdrawLockedSlots(transaction, plan, now);
}

/** {@link withdrawSlots} of slots that {@link lockChangingSlots} has locked. */
export function withdrawLockedSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  const bindings = planBindings(transaction, plan, now);
  for (const statement of [DELETE_UNFIT, RETAIN_UNFIT, DELETE_REPLACED, FIT_AGAIN]) {
    transaction.send(sql.raw(statement, bindings));
  }
}

/** Adds the future slots of a plan that are missing, in the generation that their program is in. */
export function addMissingSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  if (plan.runs.length === 0 || plan.staff.length === 0) return;
  transaction.send(sql.raw(INSERT_MISSING, planBindings(transaction, plan, now)));
}

/** Deletes the slots of a program that nobody booked and that began before an instant. */
export function deletePastSlots(transaction: Transaction, programId: string, before: Date): void {
  const slots = sql("slots").where({ tenant_id: transaction.tenantId, program_id: programId, appointment_id: null });
  transaction.send(slots.where("starts_at", "<", before).delete());
}

const LOCK_CHANGING = `${PLAN}, changing AS MATERIALIZED (
    SELECT s.id FROM slots s WHERE ${IN_SCOPE} AND (s.retained = ${FITS} OR ${IS_REPLACED}
      OR s.retained AND (s.retained_by, s.retained_by_id) IS DISTINCT FROM (${CAUSE}, ${CAUSE_ID})))
  SELECT count(*) FROM (
    SELECT FROM slots WHERE tenant_id = :tenant AND id IN (SELECT id FROM changing) ORDER BY id FOR UPDATE) AS locked`;
const DELETE_UNFIT = `${PLAN} DELETE FROM slots s WHERE ${IN_SCOPE} AND s.appointment_id IS NULL AND NOT ${FITS}`;
const RETAIN_UNFIT = `${PLAN} UPDATE slots s
  SET retained = true, retained_by = ${CAUSE}, retained_by_id = ${CAUSE_ID}, retention_accepted = false
  WHERE ${IN_SCOPE} AND s.appointment_id IS NOT NULL AND NOT ${FITS}
    AND (NOT s.retained OR (s.retained_by, s.retained_by_id) IS DISTINCT FROM (${CAUSE}, ${CAUSE_ID}))`;
const DELETE_REPLACED = `${PLAN} DELETE FROM slots s WHERE ${IN_SCOPE} AND ${IS_REPLACED}`;
const FIT_AGAIN = `${PLAN} UPDATE slots s
  SET retained = false, retained_by = NULL, retained_by_id = NULL, retention_accepted = false
  WHERE ${IN_SCOPE} AND s.retained AND ${FITS}`;
const INSERT_MISSING = `${PLAN} INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
  SELECT g.tenant_id, gen_random_uuid(), g.id, w.rule_id, p.practitioner_id, w.local_date, w.starts_at, w.ends_at,
    g.generation
  FROM wanted w JOIN staff p USING (program_id) JOIN programs g ON g.tenant_id = :tenant AND g.id = w.program_id
  WHERE w.starts_at > :now AND ${IS_UNBLOCKED}
  ON CONFLICT (tenant_id, program_id, practitioner_id, starts_at) WHERE NOT retained AND rule_id IS NOT NULL DO NOTHING`;
