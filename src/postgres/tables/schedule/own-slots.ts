import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";
import type { SlotRecord } from "./slots.js";

type SlotPlace = Pick<SlotRecord, "programId" | "ruleId" | "practitionerId" | "localDate" | "startsAt" | "endsAt">;

/**
 * Inserts a slot at the time of an appointment. The appointment occupies the slot. Call this for an appointment that
 * cannot take free slots: it is overbooked, or its status was corrected and it needs its time again.
 *
 * In two cases, the slot is marked as `retained`, so the appointment is displaced. The stored cause is:
 * - BLOCK if a block overlaps the slot. Only then, stores `isAccepted`: whether staff accepted the displacement.
 * - RULES if no block overlaps the slot, the appointment has a rule, and the schedule already has another slot of the
 *   same program, practitioner and start.
 */
export function insertOwnSlot(
  transaction: Transaction,
  slotId: string,
  appointment: SlotPlace & { readonly id: string },
  isAccepted: boolean,
): void {
  const { id: appointmentId, programId, ruleId = null, practitionerId, localDate, startsAt, endsAt } = appointment;
  const place = { programId, ruleId, practitionerId, localDate, startsAt, endsAt };
  const { tenantId } = transaction;
  transaction.send(sql.raw(INSERT_OWN, { tenantId, slotId, appointmentId, isAccepted, ...place }));
}

const INSERT_OWN = `INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation, appointment_id,
     retained, retained_by, retained_by_id, retention_accepted)
  SELECT p.tenant_id, :slotId::uuid, p.id, :ruleId::uuid, :practitionerId::uuid, :localDate::date, :startsAt::timestamptz,
    :endsAt::timestamptz, p.generation, :appointmentId::uuid, block.id IS NOT NULL OR other.there,
    CASE WHEN block.id IS NOT NULL THEN 'BLOCK' WHEN other.there THEN 'RULES' END, block.id,
    block.id IS NOT NULL AND :isAccepted::boolean
  FROM programs p CROSS JOIN LATERAL (SELECT :ruleId::uuid IS NOT NULL AND EXISTS (
      SELECT FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = p.id AND s.practitioner_id = :practitionerId
        AND s.starts_at = :startsAt AND NOT s.retained AND s.rule_id IS NOT NULL) AS there) other
    LEFT JOIN LATERAL (SELECT b.id FROM schedule_blocks b WHERE b.tenant_id = :tenantId AND b.cancelled_at IS NULL
      AND (b.practitioner_id = :practitionerId OR b.program_id = p.id OR b.location_id = p.location_id)
      AND b.starts_at < :endsAt AND b.ends_at > :startsAt ORDER BY b.id LIMIT 1) block ON true
  WHERE p.tenant_id = :tenantId AND p.id = :programId`;
