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

/**
 * Locks the practitioner of a slot until the transaction ends, so that of two programs one at a time fills an hour of theirs.
 * Says whether they are active; false also where the slot is gone.
 */
export async function lockPractitionerOf(transaction: Transaction, slotId: string): Promise<boolean> {
  const { tenantId } = transaction;
  const practitioner = sql("slots").where({ tenant_id: tenantId, id: slotId }).select("practitioner_id");
  const query = sql("practitioners").where({ tenant_id: tenantId }).where("id", practitioner).select("active");
  return (await transaction.rows<{ active: boolean }>(query.forNoKeyUpdate()))[0]?.active === true;
}

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
