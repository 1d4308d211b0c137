import type { Transaction } from "../../../call.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import { meetsBlocks, planBindings, SLOTS_OF_PLACE, WITHOUT_COMPILING } from "./plan-lists.js";
import type { SlotPlan } from "./planned-slots.js";
import { FITS, IN_SCOPE, IS_IN_BLOCK, IS_PLANNED, PLAN } from "./slot-judgement.js";

/** How many changes a {@link SlotPlan} would make to slots that start after `now`. */
export interface SlotChanges {
  /** The number of free slots that would be added. */
  readonly added: number;
  /** The number of free slots that would be removed because the plan does not have them. */
  readonly withdrawn: number;
  /**
   * The number of appointments in slots that the plan does not have, including appointments that are displaced already.
   * With `blockId` of {@link DisplacedWanted}, only the appointments that this block overlaps.
   */
  readonly displaced: number;
  /**
   * The ids of the first displaced appointments, ordered by start. There are at most `limit` ids; see
   * {@link DisplacedWanted}.
   */
  readonly firstDisplacedIds: readonly string[];
}

/** Which displaced appointments {@link previewSlots} counts, and how many ids of them it returns. */
export interface DisplacedWanted {
  /** The maximum number of ids in `firstDisplacedIds`. The count of appointments has no limit. */
  readonly limit: number;
  /**
   * Counts and returns only displaced appointments that this block overlaps. If undefined, counts and returns all
   * displaced appointments.
   */
  readonly blockId?: string | undefined;
}

const NO_IDS: DisplacedWanted = { limit: 0 };

/** Returns the changes that a {@link SlotPlan} would make. The function itself changes no slots. */
export async function previewSlots(
  transaction: Transaction,
  plan: SlotPlan,
  now: Date,
  { limit, blockId }: DisplacedWanted = NO_IDS,
): Promise<SlotChanges> {
  const bindings = { ...planBindings(transaction, plan, now), limit, block: blockId ?? null };
  transaction.send(sql.raw(WITHOUT_COMPILING));
  return readOnlyRow(transaction, sql.raw(PREVIEW, bindings));
}

/**
 * SQL for {@link SlotChanges}. It computes `added` as the number of slots of the plan minus the number of existing
 * slots that the plan has. Finding each missing slot would need a join, which is slow for a new tenant, because
 * PostgreSQL has no statistics of it.
 */
const PREVIEW = `${PLAN},
  going AS MATERIALIZED (SELECT s.appointment_id, s.starts_at, CASE WHEN s.appointment_id IS NULL THEN false
      WHEN :block::uuid IS NULL THEN true
      ELSE EXISTS (SELECT FROM blocks b WHERE b.id = :block AND ${IS_IN_BLOCK}) END AS displaced
    FROM slots s WHERE ${IN_SCOPE} AND NOT ${FITS}),
  there AS (SELECT 1 FROM slots s WHERE ${IN_SCOPE} AND ${IS_PLANNED}
    GROUP BY s.program_id, s.practitioner_id, s.starts_at)
  SELECT ((SELECT count(*) FROM (${SLOTS_OF_PLACE}) AS w WHERE w.starts_at > :now AND NOT ${meetsBlocks("w")})
      - (SELECT count(*) FROM there))::int AS added,
    (SELECT count(*) FROM going WHERE appointment_id IS NULL)::int AS withdrawn,
    (SELECT count(DISTINCT appointment_id) FROM going WHERE displaced)::int AS displaced,
    ARRAY(SELECT appointment_id::text FROM going WHERE displaced
      GROUP BY going.appointment_id ORDER BY min(starts_at), going.appointment_id LIMIT :limit) AS "firstDisplacedIds"`;
