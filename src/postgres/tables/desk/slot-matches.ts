import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { busyTime } from "../appointments/busy-times.js";
import type { SlotRecord } from "../schedule/slots.js";
import { type DeskPage, deskPage } from "./desk-lists.js";
import { type DeskWaitlistEntryRecord, entries } from "./waitlist.js";

/** The program, practitioner and start of a slot, the period of the day in which it starts, and the present time. */
export interface MatchedSlot extends Pick<SlotRecord, "programId" | "practitionerId" | "startsAt"> {
  readonly period: string;
  readonly now: Date;
}

const BUSY = busyTime("patient_id", {
  tenantId: ":tenantId",
  personId: "waitlist_entries.patient_id",
  startsAt: "s.starts_at",
  endsAt: "s.ends_at",
  exceptId: "NULL::uuid",
  now: ":now::timestamptz",
});

const OFFERED = `SELECT o.service_id FROM program_services o
  JOIN healthcare_services c ON c.tenant_id = :tenantId AND c.id = o.service_id AND c.active
  WHERE o.tenant_id = :tenantId AND o.program_id = :programId`;

/**
 * SQL condition that a slot suits the wishes of a waitlist entry. In addition, the slot must be in the schedule, and
 * the patient must be active and have no live appointment or live hold during the slot. With ARRAY, PostgreSQL reads
 * the active services of the program only once.
 */
const SUITS = `service_id = ANY(ARRAY(${OFFERED})) AND :period = ANY(preferred_periods)
  AND (practitioner_id IS NULL OR practitioner_id = :practitionerId)
  AND EXISTS (SELECT FROM slots s JOIN programs p ON p.tenant_id = :tenantId AND p.id = s.program_id
    WHERE s.tenant_id = :tenantId AND s.program_id = :programId AND s.practitioner_id = :practitionerId
      AND s.starts_at = :startsAt AND NOT s.retained AND s.rule_id IS NOT NULL
      AND s.local_date BETWEEN waitlist_entries.date_from AND waitlist_entries.date_to
      AND (waitlist_entries.location_id IS NULL OR waitlist_entries.location_id = p.location_id)
      AND EXISTS (SELECT FROM patients a WHERE a.tenant_id = :tenantId AND a.id = waitlist_entries.patient_id
        AND a.status = 'ACTIVE')
      AND (${BUSY}) IS NULL)`;

/** Returns one page of the open waitlist entries that a slot suits, the oldest first. The slot need not be free. */
export async function matchSlot(
  transaction: Transaction,
  slot: MatchedSlot,
  page: DeskPage,
): Promise<DeskWaitlistEntryRecord[]> {
  const bindings = { tenantId: transaction.tenantId, ...slot };
  const wanted = { statuses: ["ACTIVE"], createdFrom: undefined, createdTo: undefined };
  return readRecords(
    transaction,
    deskPage(() => entries(transaction).whereRaw(SUITS, bindings), wanted, page),
  );
}
