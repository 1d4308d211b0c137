import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";

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
  appointmentId: "appointment_id",
} as const satisfies ColumnsOf<SlotRecord>;

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

/**
 * Makes a slot anew for an appointment that has its time again, at which there is none any more. It is retained where the
 * rules have another slot from that time on.
 */
export function restoreSlot(
  transaction: Transaction,
  slotId: string,
  appointment: Omit<SlotRecord, "id" | "generation" | "retained" | "appointmentId"> & { readonly id: string },
): void {
  const { id: appointmentId, programId, ruleId, practitionerId, localDate, startsAt, endsAt } = appointment;
  const { tenantId } = transaction;
  const bindings = { tenantId, slotId, programId, ruleId, practitionerId, localDate, startsAt, endsAt, appointmentId };
  transaction.send(sql.raw(RESTORE, bindings));
}

const RESTORE = `INSERT INTO slots
    (tenant_id, id, program_id, rule_id, practitioner_id, local_date, starts_at, ends_at, generation, retained, appointment_id)
  SELECT p.tenant_id, :slotId, p.id, :ruleId, :practitionerId, :localDate, :startsAt, :endsAt, p.generation,
    EXISTS (SELECT FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = :programId
      AND s.practitioner_id = :practitionerId AND s.starts_at = :startsAt AND NOT s.retained), :appointmentId
  FROM programs p WHERE p.tenant_id = :tenantId AND p.id = :programId`;

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
