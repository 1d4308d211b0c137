import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { SlotPlan } from "./planned-slots.js";
import { FITS, IN_SCOPE, IS_UNBLOCKED, PLAN, planBindings } from "./slot-judgement.js";

/** What bringing the slots of a program into line with a plan would do. */
export interface SlotChanges {
  /** How many free slots would come, and how many would go. */
  readonly added: number;
  readonly withdrawn: number;
  /** How many appointments would be in slots that the plan does not have. */
  readonly retained: number;
  /** The first of these appointments, in the order in which they begin. */
  readonly firstRetainedIds: readonly string[];
}

/** Which of the appointments that would be retained are told of. */
export interface RetainedWanted {
  /** How many are named at most. */
  readonly limit: number;
  /** The block that alone is asked about; undefined for every cause. */
  readonly blockId?: string | undefined;
}

/** Says what carrying out a plan would do, without doing it, as one statement. */
export async function previewSlots(
  transaction: Transaction,
  plan: SlotPlan,
  now: Date,
  { limit, blockId }: RetainedWanted,
): Promise<SlotChanges> {
  const bindings = { ...planBindings(transaction, plan, now), limit, block: blockId ?? null };
  const [row] = await transaction.rows<SlotChanges>(sql.raw(PREVIEW, bindings));
  return row ?? { added: 0, withdrawn: 0, retained: 0, firstRetainedIds: [] };
}

const PREVIEW = `${PLAN},
  going AS MATERIALIZED (SELECT s.appointment_id, s.starts_at,
      s.appointment_id IS NOT NULL AND (:block::uuid IS NULL OR EXISTS (SELECT FROM blocked b WHERE b.id = s.id AND b.block_id = :block)) AS retained
    FROM slots s WHERE ${IN_SCOPE} AND NOT ${FITS}),
  coming AS (
    SELECT FROM wanted w JOIN staff p USING (program_id) WHERE w.starts_at > :now AND ${IS_UNBLOCKED}
      AND NOT EXISTS (
      SELECT FROM slots s WHERE s.tenant_id = :tenant AND s.program_id = w.program_id
        AND s.practitioner_id = p.practitioner_id AND s.starts_at = w.starts_at AND s.ends_at = w.ends_at
        AND s.rule_id = w.rule_id))
  SELECT (SELECT count(*) FROM coming)::int AS added,
    (SELECT count(*) FROM going WHERE appointment_id IS NULL)::int AS withdrawn,
    (SELECT count(DISTINCT appointment_id) FROM going WHERE retained)::int AS retained,
    ARRAY(SELECT appointment_id::text FROM going WHERE retained
      GROUP BY going.appointment_id ORDER BY min(starts_at), going.appointment_id LIMIT :limit) AS "firstRetainedIds"`;
