import type { Transaction } from "../../../call.js";
import { newId } from "../../../uuid.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { meetsBlocks, PLAN_LISTS, planBindings, SLOTS_OF_PLACE, WITHOUT_COMPILING } from "./plan-lists.js";
import type { SlotPlan } from "./planned-slots.js";
import { CAUSE, CAUSE_ID, FITS, IN_SCOPE, IS_REPLACED, PLAN } from "./slot-judgement.js";

/** Which kinds of slots {@link lockChangingSlots} has locked. */
interface ChangingSlots {
  /** Whether at least one free slot is not in the plan. {@link withdrawSlots} deletes such slots. */
  readonly unfitFree: boolean;
  /**
   * Whether at least one occupied slot is not in the plan and needs a change: it must be marked as `retained`, or the
   * stored cause of its displacement must change.
   */
  readonly unfitOccupied: boolean;
  /**
   * Whether the plan contains at least one slot that is marked as `retained`. {@link withdrawSlots} then sets
   * `retained` of these slots to false.
   */
  readonly fitting: boolean;
}

/**
 * Locks the future slots that {@link withdrawSlots} would delete or change for a {@link SlotPlan}. Locks in the order
 * of the slots' ids, until the transaction ends. Returns which kinds of slots it has locked.
 */
export async function lockChangingSlots(transaction: Transaction, plan: SlotPlan, now: Date): Promise<ChangingSlots> {
  transaction.send(sql.raw(WITHOUT_COMPILING));
  return readOnlyRow(transaction, sql.raw(LOCK_CHANGING, planBindings(transaction, plan, now)));
}

/**
 * Adapts the existing future slots to a {@link SlotPlan}:
 * - Deletes free slots that the plan does not have.
 * - Marks occupied slots that the plan does not have as `retained`, and stores the cause of their displacement
 *   (`DisplacementCause`). If the stored cause changes, staff must accept the displacement again.
 * - If the plan has a `retained` slot again, sets `retained` to false. Also deletes a free slot with the same program,
 *   practitioner and start.
 *
 * Call this after the transaction has locked the tenant's row in `calendars` and the programs. Other calls may book or
 * free slots before {@link lockChangingSlots} has locked them. So the later statements compare the slots with the plan
 * again.
 */
export async function withdrawSlots(transaction: Transaction, plan: SlotPlan, now: Date): Promise<void> {
  withdrawLockedSlots(transaction, plan, now, await lockChangingSlots(transaction, plan, now));
}

/** Like {@link withdrawSlots}, for slots that {@link lockChangingSlots} has locked. */
export function withdrawLockedSlots(
  transaction: Transaction,
  plan: SlotPlan,
  now: Date,
  { unfitFree, unfitOccupied, fitting }: ChangingSlots,
): void {
  const bindings = planBindings(transaction, plan, now);
  const send = (statement: string) => transaction.send(sql.raw(statement, bindings));
  if (unfitFree) send(DELETE_UNFIT);
  if (unfitOccupied) send(RETAIN_UNFIT);
  if (!fitting) return;
  send(DELETE_REPLACED);
  send(FIT_AGAIN);
}

/**
 * Marks an appointment's future slots as `retained` if a {@link SlotPlan} does not have them. Also stores the
 * `DisplacementCause`. Call this after the transaction has assigned the slots to the appointment.
 */
export function retainUnfitSlotsOf(transaction: Transaction, appointmentId: string, plan: SlotPlan, now: Date): void {
  const bindings = { ...planBindings(transaction, plan, now), appointmentId };
  transaction.send(sql.raw(`${RETAIN_UNFIT} AND s.appointment_id = :appointmentId`, bindings));
}

/**
 * Inserts the future slots of a {@link SlotPlan} that do not exist yet and that no block overlaps. Each new slot gets
 * the current `generation` of its program.
 */
export function addMissingSlots(transaction: Transaction, plan: SlotPlan, now: Date): void {
  if (plan.runs.length === 0 || plan.staff.length === 0) return;
  transaction.send(sql.raw(WITHOUT_COMPILING));
  const bindings = { ...planBindings(transaction, plan, now), idStart: newId().slice(0, UUID_RANDOM_AT) };
  transaction.send(sql.raw(INSERT_MISSING, bindings));
}

/**
 * Deletes a program's free slots that started before an instant. Adds their minutes to `unfilled_minutes`, because the
 * fill rate of past months needs these minutes.
 */
export async function deletePastSlots(transaction: Transaction, programId: string, before: Date): Promise<void> {
  const key = { tenant: transaction.tenantId, programId };
  const months = await transaction.rows<{ month: string; minutes: string }>(sql.raw(DELETE_PAST, { ...key, before }));
  for (const month of months) transaction.send(sql.raw(ADD_UNFILLED, { ...key, ...month }));
}

const DELETE_PAST = `WITH gone AS (DELETE FROM slots
    WHERE tenant_id = :tenant AND program_id = :programId AND appointment_id IS NULL AND starts_at < :before
    RETURNING local_date, starts_at, ends_at)
  SELECT date_trunc('month', local_date::timestamp)::date::text AS month,
    (sum(extract(epoch FROM ends_at - starts_at)) / 60)::bigint AS minutes FROM gone GROUP BY 1 ORDER BY 1`;
const ADD_UNFILLED = `INSERT INTO unfilled_minutes (tenant_id, program_id, month, minutes)
  VALUES (:tenant, :programId, :month, :minutes) ON CONFLICT (tenant_id, program_id, month)
  DO UPDATE SET minutes = unfilled_minutes.minutes + excluded.minutes`;
const LOCK_CHANGING = `${PLAN} SELECT coalesce(bool_or(free AND NOT fits), false) AS "unfitFree",
    coalesce(bool_or(NOT free AND NOT fits), false) AS "unfitOccupied", coalesce(bool_or(fits), false) AS fitting
  FROM (SELECT s.id, s.appointment_id IS NULL AS free, ${FITS} AS fits
    FROM slots s WHERE ${IN_SCOPE} AND (s.retained = ${FITS} OR ${IS_REPLACED}
      OR s.retained AND (s.retained_by, s.retained_by_id) IS DISTINCT FROM (${CAUSE}, ${CAUSE_ID}))
    ORDER BY id FOR UPDATE) AS locked`;
const DELETE_UNFIT = `${PLAN} DELETE FROM slots s WHERE ${IN_SCOPE} AND s.appointment_id IS NULL AND NOT ${FITS}`;
const RETAIN_UNFIT = `${PLAN} UPDATE slots s
  SET retained = true, retained_by = ${CAUSE}, retained_by_id = ${CAUSE_ID}, retention_accepted = false
  WHERE ${IN_SCOPE} AND s.appointment_id IS NOT NULL AND NOT ${FITS}
    AND (NOT s.retained OR (s.retained_by, s.retained_by_id) IS DISTINCT FROM (${CAUSE}, ${CAUSE_ID}))`;
const DELETE_REPLACED = `${PLAN} DELETE FROM slots s
  WHERE ${IN_SCOPE} AND s.appointment_id IS NULL AND ${IS_REPLACED}`;
const FIT_AGAIN = `${PLAN} UPDATE slots s
  SET retained = false, retained_by = NULL, retained_by_id = NULL, retention_accepted = false
  WHERE ${IN_SCOPE} AND s.retained AND ${FITS}`;
/** The index of the first random digit in the text of a UUID of version 7. The time and the version stand before it. */
const UUID_RANDOM_AT = "01234567-89ab-7".length;
/**
 * All ids that one statement makes begin with the same digits, so the inserts change few pages of the primary key's
 * index.
 */
const SLOT_ID = `(:idStart || substr(gen_random_uuid()::text, ${UUID_RANDOM_AT + 1}))::uuid`;
const INSERT_MISSING = `${PLAN_LISTS} INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation)
  SELECT g.tenant_id, ${SLOT_ID}, g.id, w.rule_id, w.practitioner_id, w.local_date, w.starts_at, w.ends_at,
    g.generation
  FROM programs g CROSS JOIN LATERAL (${SLOTS_OF_PLACE} WHERE n.program_id = g.id OFFSET 0) AS w
  WHERE g.tenant_id = :tenant AND g.id = ANY(:programs::uuid[]) AND w.starts_at > :now AND NOT ${meetsBlocks("w")}
  ON CONFLICT (tenant_id, program_id, practitioner_id, starts_at) WHERE NOT retained AND rule_id IS NOT NULL DO NOTHING`;
