import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** Why a slot is retained: the first reason that holds, in this order; {@link Retention}. */
export type RetentionCause =
  | "BLOCK"
  | "PRACTITIONER_INACTIVE"
  | "LOCATION_INACTIVE"
  | "PROGRAM_INACTIVE"
  | "PROGRAM_MOVED"
  | "PRACTITIONERS"
  | "HOLIDAY"
  | "RULES";

/** That a slot is kept for its appointment only, and what was decided about it. */
export interface Retention {
  readonly cause: RetentionCause;
  /** The block, where it is one. */
  readonly blockId: string | undefined;
  /** Whether staff decided that the appointment takes place as it is. */
  readonly isAccepted: boolean;
}

/** A slot of the materialized schedule. */
export interface SlotRecord {
  readonly id: string;
  readonly programId: string;
  /** The rule that has it; undefined for one that was made for an overbooked appointment and goes with it. */
  readonly ruleId: string | undefined;
  readonly practitionerId: string;
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly generation: number;
  /** Kept for its appointment only: the rules no longer have it. */
  readonly retained: boolean;
  readonly retainedBy: RetentionCause | undefined;
  readonly retainedById: string | undefined;
  readonly retentionAccepted: boolean;
  /** The live appointment that occupies it; undefined while it is free. */
  readonly appointmentId: string | undefined;
}

/** The columns of slots. */
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

/** Why an appointment is retained that occupies these slots: by the first that is; undefined where none is. */
export function retentionOf(slots: readonly SlotRecord[]): Retention | undefined {
  const retained = slots.find(({ retainedBy }) => retainedBy !== undefined);
  if (retained?.retainedBy === undefined) return undefined;
  return { cause: retained.retainedBy, blockId: retained.retainedById, isAccepted: retained.retentionAccepted };
}

/** The slots that an appointment occupies, as they are now, in the order in which they begin. */
export async function findOccupiedSlots(transaction: Transaction, appointmentId: string): Promise<SlotRecord[]> {
  const query = sql("slots")
    .where({ tenant_id: transaction.tenantId, appointment_id: appointmentId })
    .orderBy("starts_at")
    .select(slotColumns);
  return readRecords(transaction, query);
}

/**
 * The slot of the rules that a practitioner has in a program at an instant, taken or not: the one that begins then, or, with
 * `begunSince`, the one that has begun since that instant and has not ended.
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

/** What a slot is: where, when and whose time. */
type SlotPlace = Pick<SlotRecord, "programId" | "ruleId" | "practitionerId" | "localDate" | "startsAt" | "endsAt">;

/**
 * Makes a slot for an appointment whose time no free slots fill: that of an overbooked one, or of one that has its time again.
 * It is retained under a block, which counts as accepted for who books in spite of it, and where the rules have another slot
 * from that time on; that of an overbooked appointment stands beside any.
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

const remove = prepared(["tenant_id", "ids"], ({ tenant_id, ids }) =>
  sql("slots").where({ tenant_id }).whereRaw(AMONG, [ids]).delete(),
);

/** Gives locked, free slots to an appointment. */
export function occupySlots(transaction: Transaction, slots: readonly SlotRecord[], appointmentId: string): void {
  transaction.send(occupy({ tenant_id: transaction.tenantId, ids: idsOf(slots), appointment_id: appointmentId }));
}

/** Frees locked slots; those that were only kept, or made, for their appointment go. */
export function releaseSlots(transaction: Transaction, slots: readonly SlotRecord[]): void {
  const going = slots.filter(({ retained, ruleId }) => retained || ruleId === undefined);
  const staying = slots.filter((slot) => !going.includes(slot));
  const { tenantId: tenant_id } = transaction;
  if (going.length > 0) transaction.send(remove({ tenant_id, ids: idsOf(going) }));
  if (staying.length > 0) transaction.send(occupy({ tenant_id, ids: idsOf(staying), appointment_id: null }));
}

function idsOf(slots: readonly SlotRecord[]): string[] {
  return slots.map(({ id }) => id);
}

/** Notes of locked slots that their appointments take place as they are. */
export function acceptRetention(transaction: Transaction, slotIds: readonly string[]): void {
  const slots = sql("slots").where({ tenant_id: transaction.tenantId }).whereRaw("retained");
  transaction.send(slots.whereRaw("id = ANY(?::uuid[])", [slotIds as string[]]).update({ retention_accepted: true }));
}
