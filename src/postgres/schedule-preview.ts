import type { Transaction } from "../call.js";
import { OF_UNFIT, WANTED, type WantedSlots, wantedBindings } from "./schedule.js";
import { sql } from "./sql.js";

/** What bringing the slots of a program into line with what is wanted would do. */
export interface SlotChanges {
  /** How many free slots would come, and how many would go. */
  readonly added: number;
  readonly withdrawn: number;
  /** How many appointments would be in slots that are not wanted. */
  readonly retained: number;
  /** The first of these appointments, in the order in which they begin. */
  readonly firstRetainedIds: readonly string[];
}

/** Says what `sendSlots` would do, without doing it, as one statement. Of the appointments, at most `limit` are named. */
export async function previewSlots(
  transaction: Transaction,
  wanted: WantedSlots,
  now: Date,
  limit: number,
): Promise<SlotChanges> {
  const { tenantId } = transaction;
  const { programId, practitionerIds } = wanted;
  const rows = await transaction.rows<SlotChanges>(
    sql.raw(PREVIEW, [
      ...wantedBindings(wanted, tenantId, now),
      practitionerIds as string[],
      now,
      tenantId,
      programId,
      limit,
    ]),
  );
  return rows[0] ?? { added: 0, withdrawn: 0, retained: 0, firstRetainedIds: [] };
}

/** A time that is wanted has its slot already where one of the same start fits, or is occupied and so stays. */
const PREVIEW = `${WANTED}, going AS (SELECT s.appointment_id, s.starts_at FROM slots s ${OF_UNFIT}),
  coming AS (
    SELECT FROM wanted w CROSS JOIN unnest(?::uuid[]) AS p (id) WHERE w.starts_at > ? AND NOT EXISTS (
      SELECT FROM slots s WHERE s.tenant_id = ? AND s.program_id = ? AND s.practitioner_id = p.id
        AND s.starts_at = w.starts_at
        AND (s.appointment_id IS NOT NULL OR (s.ends_at = w.ends_at AND s.rule_id = w.rule_id))))
  SELECT (SELECT count(*) FROM coming)::int AS added,
    (SELECT count(*) FROM going WHERE appointment_id IS NULL)::int AS withdrawn,
    (SELECT count(*) FROM going WHERE appointment_id IS NOT NULL)::int AS retained,
    ARRAY(SELECT appointment_id::text FROM going WHERE appointment_id IS NOT NULL
      ORDER BY starts_at, going.appointment_id LIMIT ?) AS "firstRetainedIds"`;
