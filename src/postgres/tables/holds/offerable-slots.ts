import type { Transaction } from "../../../call.js";
import { readRecord, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { busyTime } from "../appointments/busy-times.js";
import { IS_UP_TO_DATE, OFFERED_FROM, OFFERED_UNTIL } from "../schedule/booking-windows.js";
import { DAY_HELD_UNTIL, IS_DAY_FULL } from "./free-options.js";

/** The current attributes of a slot. They decide whether and when the slot can be offered to the waitlist. */
export interface OfferableSlot {
  readonly slotId: string;
  readonly generation: number;
  readonly programId: string;
  readonly practitionerId: string;
  readonly locationId: string;
  readonly emergency: boolean;
  /** The organization and company of the program; undefined if the program has none. */
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
  readonly localDate: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  /**
   * True if all these conditions are met:
   * - The slot is free, and no appointment of the practitioner overlaps it. Holds of the practitioner do not count.
   * - The day has capacity left. Holds that use this capacity count.
   * - The program, location and practitioner are active. The program is no emergency program.
   */
  readonly isOpen: boolean;
  /** Whether the slot has been compared with the program's current rules and practitioners ({@link IS_UP_TO_DATE}). */
  readonly isUpToDate: boolean;
  /**
   * The time from which holds no longer prevent an offer; undefined if no hold prevents it now. Two kinds of holds
   * prevent an offer: holds of the practitioner during the slot, and holds that use the last unit of capacity of the
   * day.
   */
  readonly heldUntil: Date | undefined;
  /** Before this time, the slot is not offered: its date is beyond the booking horizon of its program. */
  readonly offeredFrom: Date;
  /** After this time, the slot is not offered: it starts sooner than the minimum notice of its program allows. */
  readonly offeredUntil: Date;
}

/** An open waitlist entry whose wishes a slot meets. Dates are local, YYYY-MM-DD. */
export interface WaitingEntry {
  readonly id: string;
  readonly version: number;
  readonly patientId: string;
  readonly serviceId: string;
  /** The date on which the entry was created. */
  readonly requestedOn: string;
  readonly dueOn: string | undefined;
  readonly dateFrom: string;
}

const TIME = { tenantId: ":tenantId", startsAt: "s.starts_at", endsAt: "s.ends_at", exceptId: "NULL::uuid" };

/** A query that uses this value as the current time ignores holds, because all holds have then expired. */
const NO_HOLD = "'infinity'::timestamptz";

const selectSlot = prepared(["tenantId", "slotId", "now"], (names) =>
  sql.raw(
    `SELECT s.id AS "slotId", s.generation, s.program_id AS "programId", s.practitioner_id AS "practitionerId",
       p.location_id AS "locationId", p.emergency, p.organization_id AS "organizationId", p.company_id AS "companyId",
       s.local_date AS "localDate", s.starts_at AS "startsAt", s.ends_at AS "endsAt",
       s.appointment_id IS NULL AND p.active AND NOT p.emergency AND l.active AND d.active AND NOT ${IS_DAY_FULL}
         AND (${busyTime("practitioner_id", { ...TIME, personId: "s.practitioner_id", now: NO_HOLD })}) IS NULL AS "isOpen",
       ${IS_UP_TO_DATE} AS "isUpToDate", ${OFFERED_FROM} AS "offeredFrom", ${OFFERED_UNTIL} AS "offeredUntil",
       greatest((SELECT max(h.expires_at) FROM appointment_holds h WHERE h.tenant_id = :tenantId
          AND h.practitioner_id = s.practitioner_id AND h.ended_at IS NULL AND h.expires_at > :now
          AND h.starts_at > s.starts_at - interval '24 hours' AND h.starts_at < s.ends_at AND h.ends_at > s.starts_at),
         ${DAY_HELD_UNTIL}) AS "heldUntil"
     FROM slots s
       JOIN programs p ON p.tenant_id = :tenantId AND p.id = s.program_id
       JOIN locations l ON l.tenant_id = :tenantId AND l.id = p.location_id
       JOIN practitioners d ON d.tenant_id = :tenantId AND d.id = s.practitioner_id
       LEFT JOIN tenant_settings t ON t.tenant_id = :tenantId
     WHERE s.tenant_id = :tenantId AND s.id = :slotId AND NOT s.retained AND s.rule_id IS NOT NULL`,
    names,
  ),
);

/**
 * How many waitlist entries {@link selectWaiting} reads. It reads more only if further entries have the same request
 * date as the last one.
 */
const MOST_RANKED = 100;

/**
 * Selects the entries for {@link findWaitingEntries}: the {@link MOST_RANKED} entries with the earliest request dates,
 * and further entries with the same request date as the last of these. The first entry in the waiting order has the
 * earliest request date, so it is always selected.
 */
const selectWaiting = prepared(["tenantId", "slotId", "now", "period", "maxHolds"], (names) =>
  sql.raw(
    `SELECT w.id, w.version, w.patient_id AS "patientId", w.service_id AS "serviceId", w.due_on AS "dueOn",
       w.date_from AS "dateFrom", (w.created_at AT TIME ZONE 'America/Bogota')::date AS "requestedOn"
     FROM slots s
       JOIN freed_slots f ON f.tenant_id = :tenantId AND f.slot_id = s.id
       JOIN programs p ON p.tenant_id = :tenantId AND p.id = s.program_id
       JOIN program_services o ON o.tenant_id = :tenantId AND o.program_id = p.id
       JOIN healthcare_services c ON c.tenant_id = :tenantId AND c.id = o.service_id AND c.active
       JOIN waitlist_entries w ON w.tenant_id = :tenantId AND w.service_id = o.service_id AND w.closed_at IS NULL
       JOIN patients a ON a.tenant_id = :tenantId AND a.id = w.patient_id AND a.status = 'ACTIVE'
     WHERE s.tenant_id = :tenantId AND s.id = :slotId
       AND s.local_date BETWEEN w.date_from AND w.date_to AND :period = ANY (w.preferred_periods)
       AND (w.location_id IS NULL OR w.location_id = p.location_id)
       AND (w.practitioner_id IS NULL OR w.practitioner_id = s.practitioner_id)
       AND w.id <> ALL (f.offered_to)
       AND (${busyTime("patient_id", { ...TIME, personId: "w.patient_id", now: ":now::timestamptz" })}) IS NULL
       AND (SELECT count(*) FROM appointment_holds h WHERE h.tenant_id = :tenantId AND h.patient_id = w.patient_id
         AND h.ended_at IS NULL AND h.expires_at > :now) < :maxHolds::integer
     ORDER BY "requestedOn" FETCH FIRST ${MOST_RANKED} ROWS WITH TIES`,
    names,
  ),
);

const selectOffered = prepared(["tenantId", "holdId"], (names) =>
  sql.raw(
    `SELECT s.generation, p.emergency FROM appointment_holds h
       JOIN slots s ON s.tenant_id = :tenantId AND s.id = h.slot_id
       JOIN programs p ON p.tenant_id = :tenantId AND p.id = h.program_id
     WHERE h.tenant_id = :tenantId AND h.id = :holdId AND h.waitlist_entry_id IS NOT NULL`,
    names,
  ),
);

/**
 * Returns the attributes of the slot of an offer, for its option token. Returns undefined if the hold does not exist or
 * is no offer, or if the slot no longer exists.
 */
export async function findOfferedSlot(
  transaction: Transaction,
  holdId: string,
): Promise<Pick<OfferableSlot, "generation" | "emergency"> | undefined> {
  return readRecord(transaction, selectOffered({ tenantId: transaction.tenantId, holdId }));
}

/**
 * Returns a slot of the schedule without locking it, whether or not it is free. Returns undefined if the schedule no
 * longer has the slot.
 */
export async function findOfferableSlot(
  transaction: Transaction,
  slotId: string,
  nowMs: number,
): Promise<OfferableSlot | undefined> {
  const { tenantId } = transaction;
  return readRecord(transaction, selectSlot({ tenantId, slotId, now: new Date(nowMs) }));
}

/**
 * Returns the open waitlist entries to which a freed slot can be offered. Each entry meets these conditions:
 * - The slot suits the wishes of the entry and was not offered to it yet.
 * - The patient is active, is free at the time of the slot, and has fewer than `maxHolds` live holds.
 *
 * If more than {@link MOST_RANKED} entries meet the conditions, returns only those with the earliest request dates. The
 * first entry in the order of `waitingOrder` is always among them. Returns none if `freed_slots` has no row for the
 * slot.
 */
export async function findWaitingEntries(
  transaction: Transaction,
  slotId: string,
  { nowMs, period, maxHolds }: { readonly nowMs: number; readonly period: string; readonly maxHolds: number },
): Promise<WaitingEntry[]> {
  const { tenantId } = transaction;
  return readRecords(transaction, selectWaiting({ tenantId, slotId, now: new Date(nowMs), period, maxHolds }));
}
