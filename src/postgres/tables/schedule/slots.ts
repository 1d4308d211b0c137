import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { noteFreedSlots } from "./freed-slots.js";

/**
 * Why the schedule no longer has the slot of an appointment. If several causes hold, the first in this order is stored.
 */
export type DisplacementCause =
  | "BLOCK"
  | "PRACTITIONER_INACTIVE"
  | "LOCATION_INACTIVE"
  | "PROGRAM_INACTIVE"
  | "PROGRAM_MOVED"
  | "PRACTITIONERS"
  | "HOLIDAY"
  | "RULES";

/** Why an appointment is displaced: its slot is no longer in the schedule and is kept only for the appointment. */
export interface Displacement {
  readonly cause: DisplacementCause;
  /** The block, if the cause is BLOCK. */
  readonly blockId: string | undefined;
  /** Whether staff accepted that the appointment takes place as it is. */
  readonly isAccepted: boolean;
}

/** A stored slot of the schedule. */
export interface SlotRecord {
  readonly id: string;
  readonly programId: string;
  /**
   * The rule of the slot; undefined for a slot that was made for an overbooked appointment. Such a slot is deleted with
   * its appointment.
   */
  readonly ruleId: string | undefined;
  readonly practitionerId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly generation: number;
  /** Whether the slot exists only for its appointment, because the schedule no longer has the slot. */
  readonly retained: boolean;
  readonly retainedBy: DisplacementCause | undefined;
  readonly retainedById: string | undefined;
  readonly retentionAccepted: boolean;
  /** The id of the appointment that occupies the slot; undefined while the slot is free. */
  readonly appointmentId: string | undefined;
}

/** The column of each attribute of a slot. */
export const slotColumns = {
  id: "id",
  programId: "program_id",
  ruleId: "rule_id",
  practitionerId: "practitioner_id",
  localDate: "local_date",
  startsAt: "starts_at",
  endsAt: "ends_at",
  generation: "generation",
  retained: "retained",
  retainedBy: "retained_by",
  retainedById: "retained_by_id",
  retentionAccepted: "retention_accepted",
  appointmentId: "appointment_id",
} as const satisfies ColumnsOf<SlotRecord>;

/**
 * Returns the displacement of the appointment that occupies `slots`; undefined if no slot is `retained`. If several
 * slots are retained, the first of them decides.
 */
export function displacementOf(slots: readonly SlotRecord[]): Displacement | undefined {
  const retained = slots.find(({ retainedBy }) => retainedBy !== undefined);
  if (retained?.retainedBy === undefined) return undefined;
  return { cause: retained.retainedBy, blockId: retained.retainedById, isAccepted: retained.retentionAccepted };
}

/** Returns the slots that an appointment occupies, without locking them, ordered by start. */
export async function findOccupiedSlots(transaction: Transaction, appointmentId: string): Promise<SlotRecord[]> {
  const query = sql("slots")
    .where({ tenant_id: transaction.tenantId, appointment_id: appointmentId })
    .orderBy("starts_at")
    .select(slotColumns);
  return readRecords(transaction, query);
}

/**
 * Returns the slot of a practitioner in a program, free or occupied, that starts at `at`; undefined if there is none.
 * With `begunSince`, returns the last slot that starts from `begunSince` to `at` and ends after `at`. Ignores
 * `retained` slots and slots that were made for an overbooked appointment.
 */
export async function findSlotAt(
  transaction: Transaction,
  { programId, practitionerId }: Pick<SlotRecord, "programId" | "practitionerId">,
  { at, begunSince = at }: { readonly at: Date; readonly begunSince?: Date | undefined },
): Promise<SlotRecord | undefined> {
  const query = sql("slots")
    .where({ tenant_id: transaction.tenantId, program_id: programId, practitioner_id: practitionerId })
    .whereRaw("NOT retained AND rule_id IS NOT NULL")
    .whereRaw("starts_at BETWEEN ? AND ? AND ends_at > ?", [begunSince, at, at])
    .orderBy("starts_at", "desc")
    .limit(1)
    .select(slotColumns);
  return readRecord(transaction, query);
}

type SlotPlace = Pick<SlotRecord, "programId" | "ruleId" | "practitionerId" | "localDate" | "startsAt" | "endsAt">;

/**
 * Inserts a slot at the time of an appointment that could not take free slots. Such an appointment is overbooked, or
 * its status was corrected and it needs its time again.
 *
 * The slot is `retained` with the cause BLOCK if a block overlaps the slot. `isAccepted` is whether staff accepted the
 * appointment in spite of the block. The slot is `retained` with the cause RULES if the appointment has a rule and the
 * practitioner already has another slot from a rule in the program at the same start.
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

const AMONG = "id = ANY(?::uuid[])";

const occupy = prepared(["tenant_id", "ids", "appointment_id"], ({ tenant_id, ids, appointment_id }) =>
  sql("slots").where({ tenant_id }).whereRaw(AMONG, [ids]).update({ appointment_id }),
);

const exchange = prepared(
  ["tenant_id", "ids", "taken", "appointment_id"],
  ({ tenant_id, ids, taken, appointment_id }) =>
    sql("slots")
      .where({ tenant_id })
      .whereRaw(AMONG, [ids])
      .update({ appointment_id: sql.raw("CASE WHEN id = ANY(?::uuid[]) THEN ?::uuid END", [taken, appointment_id]) }),
);

const remove = prepared(["tenant_id", "ids"], ({ tenant_id, ids }) =>
  sql("slots").where({ tenant_id }).whereRaw(AMONG, [ids]).delete(),
);

/** Assigns locked, free slots to an appointment. */
export function occupySlots(transaction: Transaction, slots: readonly SlotRecord[], appointmentId: string): void {
  transaction.send(occupy({ tenant_id: transaction.tenantId, ids: idsOf(slots), appointment_id: appointmentId }));
}

/**
 * Frees locked slots. Deletes those that are `retained` or were made for their appointment. The practitioner's free
 * slots at these times may then be offered to the waitlist. Call this at most once in a transaction, after the
 * statements that change the counters of days and principals.
 */
export function releaseSlots(transaction: Transaction, slots: readonly SlotRecord[]): void {
  vacateSlots(transaction, slots);
  noteFreedSlots(transaction, slots);
}

/** Assigns locked, free slots to an appointment, and frees its locked slots `held` as {@link vacateSlots} does. */
export function exchangeSlots(
  transaction: Transaction,
  held: readonly SlotRecord[],
  slots: readonly SlotRecord[],
  appointmentId: string,
): void {
  const { going, staying } = parted(held);
  const { tenantId: tenant_id } = transaction;
  if (going.length > 0) transaction.send(remove({ tenant_id, ids: idsOf(going) }));
  const taken = idsOf(slots);
  const ids = [...new Set([...idsOf(staying), ...taken])];
  transaction.send(exchange({ tenant_id, ids, taken, appointment_id: appointmentId }));
}

/**
 * Frees slots like {@link releaseSlots}, but does not cause offers to the waitlist. After the last call of this
 * function in a transaction, call {@link noteFreedSlots} once for all freed slots.
 */
export function vacateSlots(transaction: Transaction, slots: readonly SlotRecord[]): void {
  const { going, staying } = parted(slots);
  const { tenantId: tenant_id } = transaction;
  if (going.length > 0) transaction.send(remove({ tenant_id, ids: idsOf(going) }));
  if (staying.length > 0) transaction.send(occupy({ tenant_id, ids: idsOf(staying), appointment_id: null }));
}

function parted(slots: readonly SlotRecord[]) {
  const going = slots.filter(({ retained, ruleId }) => retained || ruleId === undefined);
  return { going, staying: slots.filter((slot) => !going.includes(slot)) };
}

function idsOf(slots: readonly SlotRecord[]): string[] {
  return slots.map(({ id }) => id);
}

/** Records that staff accepted the displacement of the appointments in these locked slots. */
export function acceptDisplacement(transaction: Transaction, slotIds: readonly string[]): void {
  const slots = sql("slots").where({ tenant_id: transaction.tenantId }).whereRaw("retained");
  transaction.send(slots.whereRaw("id = ANY(?::uuid[])", [slotIds as string[]]).update({ retention_accepted: true }));
}
