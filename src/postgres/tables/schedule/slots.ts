import type { Transaction } from "../../../call.js";
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
  /** The live appointment that occupies it. */
  readonly appointmentId: string | null;
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
} as const satisfies Record<keyof SlotRecord, string>;

/** The slot that an appointment occupies, as it is now. */
export async function findOccupiedSlot(
  transaction: Transaction,
  appointmentId: string,
): Promise<SlotRecord | undefined> {
  const query = sql("slots").where({ tenant_id: transaction.tenantId, appointment_id: appointmentId }).select(COLUMNS);
  return (await transaction.rows<SlotRecord>(query))[0];
}

/**
 * A slot, if it still is, and the one that an appointment occupies, if one does: locked in the order of their ids until the
 * transaction ends.
 */
export async function lockSlots(
  transaction: Transaction,
  which: { readonly slotId?: string; readonly occupiedBy?: string | undefined },
): Promise<readonly SlotRecord[]> {
  const query = sql("slots")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("(id = ?::uuid OR appointment_id = ?::uuid)", [which.slotId ?? null, which.occupiedBy ?? null])
    .orderBy("id")
    .select(COLUMNS)
    .forNoKeyUpdate();
  return transaction.rows<SlotRecord>(query);
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

/**
 * Where a slot takes place, if a service can be had there: undefined where its program or location is not active or the
 * program does not offer the service.
 */
export async function findLocationOf(
  transaction: Transaction,
  slotId: string,
  serviceId: string,
): Promise<string | undefined> {
  const query = sql({ s: "slots" })
    .joinRaw("JOIN programs p ON p.tenant_id = s.tenant_id AND p.id = s.program_id AND p.active")
    .joinRaw("JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active")
    .joinRaw("JOIN program_services o ON o.tenant_id = p.tenant_id AND o.program_id = p.id AND o.service_id = ?", [
      serviceId,
    ])
    .where({ "s.tenant_id": transaction.tenantId, "s.id": slotId })
    .select({ id: "l.id" });
  return (await transaction.rows<{ id: string }>(query))[0]?.id;
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

/**
 * Takes one unit of a rule's capacity on a date, unless none is left: then the answer is false. The row is locked until the
 * transaction ends, so that of two who want the last unit one gets it.
 */
export async function takeCapacity(transaction: Transaction, { ruleId, localDate }: DayOfRule): Promise<boolean> {
  const rows = await transaction.rows(
    sql.raw(
      `INSERT INTO day_counters AS c (tenant_id, rule_id, local_date, booked)
       SELECT tenant_id, id, ?::date, 1 FROM program_rules WHERE tenant_id = ? AND id = ? AND daily_capacity >= 1
       ON CONFLICT (tenant_id, rule_id, local_date) DO UPDATE SET booked = c.booked + 1
       WHERE c.booked < (SELECT daily_capacity FROM program_rules r WHERE r.tenant_id = c.tenant_id AND r.id = c.rule_id)
       RETURNING booked`,
      [localDate, transaction.tenantId, ruleId],
    ),
  );
  return rows.length === 1;
}

/** Gives one unit of a rule's capacity on a date back. */
export function giveCapacityBack(transaction: Transaction, { ruleId, localDate }: DayOfRule): void {
  const day = { tenant_id: transaction.tenantId, rule_id: ruleId, local_date: localDate };
  transaction.send(sql("day_counters").where(day).decrement("booked"));
}

/** Whose capacity on which day. */
export interface DayOfRule {
  readonly ruleId: string;
  readonly localDate: string;
}

/** Uses an option token up; false where it was used before. */
export async function consumeToken(transaction: Transaction, jti: string, expiresAt: Date): Promise<boolean> {
  const row = { tenant_id: transaction.tenantId, jti, expires_at: expiresAt };
  const rows = await transaction.rows(sql("consumed_option_tokens").insert(row).onConflict().ignore().returning("jti"));
  return rows.length === 1;
}
