import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords } from "../../columns.js";
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
  readonly ruleId: string;
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

const COLUMNS = {
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

/** Why a slot is retained; undefined for one that is not, and where there is none. */
export function retentionOf(slot: SlotRecord | undefined): Retention | undefined {
  if (slot?.retainedBy === undefined) return undefined;
  return { cause: slot.retainedBy, blockId: slot.retainedById, isAccepted: slot.retentionAccepted };
}

/** The slot that an appointment occupies, as it is now. */
export async function findOccupiedSlot(
  transaction: Transaction,
  appointmentId: string,
): Promise<SlotRecord | undefined> {
  const query = sql("slots").where({ tenant_id: transaction.tenantId, appointment_id: appointmentId }).select(COLUMNS);
  return readRecord(transaction, query);
}

/**
 * A slot, if it still is, and the one that an appointment occupies, if one does: locked in the order of their ids until the
 * transaction ends.
 */
export async function lockSlots(
  transaction: Transaction,
  which: { readonly slotId?: string | undefined; readonly occupiedBy?: string | undefined },
): Promise<readonly SlotRecord[]> {
  const query = sql("slots")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("(id = ?::uuid OR appointment_id = ?::uuid)", [which.slotId ?? null, which.occupiedBy ?? null])
    .orderBy("id")
    .select(COLUMNS)
    .forNoKeyUpdate();
  return readRecords(transaction, query);
}

/** The slot at the place and time of an appointment, if there still is one, locked until the transaction ends. */
export async function lockFormerSlot(transaction: Transaction, appointmentId: string): Promise<SlotRecord | undefined> {
  const { tenantId } = transaction;
  const place = ["program_id", "rule_id", "practitioner_id", "local_date", "starts_at", "ends_at"];
  const former = sql("appointments").where({ tenant_id: tenantId, id: appointmentId }).select(place);
  const query = sql("slots").where({ tenant_id: tenantId }).whereIn(place, former).orderBy("id").select(COLUMNS);
  return readRecord(transaction, query.forNoKeyUpdate());
}

/**
 * The slots that locked appointments occupy and, where a practitioner is named, those that the practitioner has in the same
 * programs at the same times, whoever has them: all locked in the order of their ids until the transaction ends.
 */
export async function lockSlotsOf(
  transaction: Transaction,
  appointmentIds: readonly string[],
  practitionerId: string | undefined,
): Promise<readonly SlotRecord[]> {
  const { tenantId } = transaction;
  const wanted = sql.raw(WANTED_SLOTS, {
    tenant: tenantId,
    appointments: appointmentIds,
    practitioner: practitionerId ?? null,
  });
  const query = sql("slots")
    .where({ tenant_id: tenantId })
    .whereRaw("id IN (?)", [wanted])
    .orderBy("id")
    .select(COLUMNS);
  return readRecords(transaction, query.forNoKeyUpdate());
}

const WANTED_SLOTS = `SELECT s.id FROM slots s WHERE s.tenant_id = :tenant AND s.appointment_id = ANY(:appointments::uuid[])
  UNION ALL SELECT s.id FROM appointments a JOIN slots s ON s.tenant_id = a.tenant_id AND s.program_id = a.program_id
    AND s.practitioner_id = :practitioner::uuid AND s.starts_at = a.starts_at AND NOT s.retained
  WHERE a.tenant_id = :tenant AND a.id = ANY(:appointments::uuid[])`;

/**
 * Locks the practitioner of a slot until the transaction ends, so that of two programs one at a time fills an hour of theirs.
 * Says whether they are active; false also where the slot is gone.
 */
export async function lockPractitionerOf(transaction: Transaction, slotId: string): Promise<boolean> {
  return lockPractitionerIn(transaction, "slots", slotId);
}

/** The same of an appointment, whose time it was or is. */
export async function lockPractitionerOfAppointment(transaction: Transaction, appointmentId: string): Promise<boolean> {
  return lockPractitionerIn(transaction, "appointments", appointmentId);
}

/** What a slot is: where, when and whose time. */
type SlotPlace = Pick<SlotRecord, "programId" | "ruleId" | "practitionerId" | "localDate" | "startsAt" | "endsAt">;

/**
 * Makes a slot anew for an appointment that has its time again, at which there is none any more. It is retained where the
 * rules have another slot from that time on.
 */
export function restoreSlot(
  transaction: Transaction,
  slotId: string,
  appointment: SlotPlace & { readonly id: string },
): void {
  const { id: appointmentId, programId, ruleId, practitionerId, localDate, startsAt, endsAt } = appointment;
  const { tenantId } = transaction;
  const bindings = { tenantId, slotId, programId, ruleId, practitionerId, localDate, startsAt, endsAt, appointmentId };
  transaction.send(sql.raw(RESTORE, bindings));
}

const RESTORE = `INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation, appointment_id,
     retained, retained_by)
  SELECT p.tenant_id, :slotId, p.id, :ruleId, :practitionerId, :localDate, :startsAt, :endsAt, p.generation,
    :appointmentId, other.there, CASE WHEN other.there THEN 'RULES' END
  FROM programs p CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM slots s WHERE s.tenant_id = p.tenant_id
    AND s.program_id = p.id AND s.practitioner_id = :practitionerId AND s.starts_at = :startsAt AND NOT s.retained) AS there) other
  WHERE p.tenant_id = :tenantId AND p.id = :programId`;

/** Gives a locked, free slot to an appointment. */
export function occupySlot(transaction: Transaction, slotId: string, appointmentId: string): void {
  const slot = { tenant_id: transaction.tenantId, id: slotId };
  transaction.send(sql("slots").where(slot).update({ appointment_id: appointmentId }));
}

/** Frees a locked slot; one that was only kept for its appointment goes. */
export function releaseSlot(transaction: Transaction, { id, retained }: SlotRecord): void {
  const slot = sql("slots").where({ tenant_id: transaction.tenantId, id });
  transaction.send(retained ? slot.delete() : slot.update({ appointment_id: null }));
}

async function lockPractitionerIn(
  transaction: Transaction,
  table: "slots" | "appointments",
  id: string,
): Promise<boolean> {
  const { tenantId } = transaction;
  const practitioner = sql(table).where({ tenant_id: tenantId, id }).select("practitioner_id");
  const query = sql("practitioners").where({ tenant_id: tenantId }).where("id", practitioner).select("active");
  return (await transaction.rows<{ active: boolean }>(query.forNoKeyUpdate()))[0]?.active === true;
}

/** Notes of locked slots that their appointments take place as they are. */
export function acceptRetention(transaction: Transaction, slotIds: readonly string[]): void {
  const slots = sql("slots").where({ tenant_id: transaction.tenantId }).whereRaw("retained");
  transaction.send(slots.whereRaw("id = ANY(?::uuid[])", [slotIds as string[]]).update({ retention_accepted: true }));
}
