import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { liveHolds } from "../../held-until.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { AppointmentRecord } from "../appointments/appointments.js";
import { type DayOfRule, lockDays } from "../appointments/day-counters.js";
import { IS_UP_TO_DATE } from "../schedule/booking-windows.js";
import { type SlotRecord, slotColumns } from "../schedule/slots.js";
import { fromRows, type LockedSource } from "./bulk-insert.js";

/** The program, practitioner and time of an appointment that needs slots. */
export interface WantedSlots {
  readonly programId: string;
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const lockSlotsIn = prepared(["tenantId", "sourceSystem", "rows"], (names) => {
  const times = `jsonb_to_recordset(:rows::jsonb)
    AS r ("programId" uuid, "practitionerId" uuid, "startsAt" timestamptz, "endsAt" timestamptz)`;
  const ids = `SELECT found.id ${fromRows(`${times}
    JOIN programs p ON p.tenant_id = :tenantId AND p.id = r."programId"
    CROSS JOIN LATERAL (SELECT s.id FROM slots s
      WHERE s.tenant_id = :tenantId AND s.program_id = r."programId" AND s.practitioner_id = r."practitionerId"
        AND s.starts_at >= r."startsAt" AND s.starts_at < r."endsAt" AND NOT s.retained AND s.rule_id IS NOT NULL
        AND ${IS_UP_TO_DATE} OFFSET 0) AS found`)}`;
  return sql("slots")
    .where({ tenant_id: names.tenantId })
    .whereRaw("id = ANY(ARRAY(?))", [sql.raw(ids, names)])
    .orderBy("id")
    .select(slotColumns)
    .forNoKeyUpdate();
});

/**
 * For each item of `wanted`, locks the slots of its program and practitioner that start within its time. Returns the
 * slots of all items, free or occupied, ordered by id. Omits slots that are `retained`, have no rule or are not up to
 * date ({@link IS_UP_TO_DATE}). The locks last until the transaction ends.
 */
export async function lockSlotsOfTimes(
  transaction: Transaction,
  source: LockedSource,
  wanted: readonly WantedSlots[],
): Promise<readonly SlotRecord[]> {
  if (wanted.length === 0) return [];
  return readRecords(transaction, lockSlotsIn({ ...source, rows: JSON.stringify(wanted) }));
}

/** The capacity that a rule has left on a day. */
export interface CapacityLeft extends DayOfRule {
  readonly left: number;
}

/**
 * Locks the counters of these days until the transaction ends. Returns for each day, in no order, its daily capacity
 * minus the appointments and live holds that use it. A live hold has neither ended nor expired.
 */
export async function lockCapacitiesLeft(
  transaction: Transaction,
  days: readonly DayOfRule[],
  nowMs: number,
): Promise<readonly CapacityLeft[]> {
  lockDays(transaction, days);
  const query = sql.raw(
    `SELECT c.rule_id AS "ruleId", c.local_date::text AS "localDate",
       r.daily_capacity - c.booked - (${liveHolds("c.held", ":now::timestamptz")}) AS left
     FROM unnest(:rules::uuid[], :dates::date[]) AS d (rule_id, local_date)
     JOIN day_counters c ON c.tenant_id = :tenantId AND c.rule_id = d.rule_id AND c.local_date = d.local_date
     JOIN program_rules r ON r.tenant_id = :tenantId AND r.id = c.rule_id`,
    { tenantId: transaction.tenantId, ...columnsOfDays(days), now: new Date(nowMs) },
  );
  return days.length === 0 ? [] : transaction.rows(query);
}

/** The slots to assign to an appointment, and the day whose capacity the appointment uses. */
export interface TakenRun {
  readonly appointmentId: string;
  readonly slotIds: readonly string[];
  readonly day: DayOfRule;
}

/**
 * Assigns slots to appointments, and adds each appointment to the counter of its day. The transaction must have locked
 * the slots and counters. The slots must be free.
 */
export function takeRuns(transaction: Transaction, runs: readonly TakenRun[]): void {
  if (runs.length === 0) return;
  const { tenantId } = transaction;
  const pairs = runs.flatMap(({ appointmentId, slotIds }) => slotIds.map((slotId) => ({ slotId, appointmentId })));
  transaction.send(
    sql.raw(
      `UPDATE slots SET appointment_id = taken.appointment_id
       FROM unnest(:slots::uuid[], :appointments::uuid[]) AS taken (id, appointment_id)
       WHERE slots.tenant_id = :tenantId AND slots.id = taken.id`,
      { tenantId, slots: pairs.map(({ slotId }) => slotId), appointments: pairs.map((pair) => pair.appointmentId) },
    ),
  );
  transaction.send(
    sql.raw(
      `UPDATE day_counters SET booked = day_counters.booked + counted.booked
       FROM (SELECT d.rule_id, d.local_date, count(*) AS booked
         FROM unnest(:rules::uuid[], :dates::date[]) AS d (rule_id, local_date) GROUP BY 1, 2) AS counted
       WHERE day_counters.tenant_id = :tenantId AND day_counters.rule_id = counted.rule_id
         AND day_counters.local_date = counted.local_date`,
      { tenantId, ...columnsOfDays(runs.map(({ day }) => day)) },
    ),
  );
}

function columnsOfDays(days: readonly DayOfRule[]) {
  return { rules: days.map(({ ruleId }) => ruleId), dates: days.map(({ localDate }) => localDate) };
}

/** A slot to create for an appointment outside the schedule. */
export interface OwnSlot {
  readonly slotId: string;
  readonly appointment: AppointmentRecord;
  /**
   * Whether the appointment takes place although a schedule block overlaps the slot. If true, staff do not have to
   * decide about the appointment. Ignored if no block overlaps the slot.
   */
  readonly isAccepted: boolean;
}

/**
 * Inserts slots for appointments outside the schedule. If a schedule block overlaps a slot, marks the slot as retained:
 * the slot exists only for its appointment, and the block is the cause.
 */
export function insertOwnSlots(transaction: Transaction, slots: readonly OwnSlot[]): void {
  if (slots.length === 0) return;
  const rows = slots.map(({ slotId, isAccepted, appointment }) => {
    const { id: appointmentId, programId, practitionerId, localDate, startsAt, endsAt } = appointment;
    return { slotId, isAccepted, appointmentId, programId, practitionerId, localDate, startsAt, endsAt };
  });
  transaction.send(sql.raw(INSERT_OWN, { tenantId: transaction.tenantId, rows: JSON.stringify(rows) }));
}

const INSERT_OWN = `INSERT INTO slots
    (tenant_id, id, program_id, practitioner_id, local_date, starts_at, ends_at, generation, appointment_id, retained,
     retained_by, retained_by_id, retention_accepted)
  SELECT p.tenant_id, r."slotId", p.id, r."practitionerId", r."localDate", r."startsAt", r."endsAt", p.generation,
    r."appointmentId", block.id IS NOT NULL, CASE WHEN block.id IS NOT NULL THEN 'BLOCK' END, block.id,
    block.id IS NOT NULL AND r."isAccepted"
  FROM jsonb_to_recordset(:rows::jsonb) AS r ("slotId" uuid, "isAccepted" boolean, "appointmentId" uuid, "programId" uuid,
      "practitionerId" uuid, "localDate" date, "startsAt" timestamptz, "endsAt" timestamptz)
    JOIN programs p ON p.tenant_id = :tenantId AND p.id = r."programId"
    LEFT JOIN LATERAL (SELECT b.id FROM schedule_blocks b WHERE b.tenant_id = :tenantId AND b.cancelled_at IS NULL
      AND (b.practitioner_id = r."practitionerId" OR b.program_id = p.id OR b.location_id = p.location_id)
      AND b.starts_at < r."endsAt" AND b.ends_at > r."startsAt" ORDER BY b.id LIMIT 1) block ON true`;
