import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { IS_UP_TO_DATE } from "./booking-windows.js";
import { noteFreedSlots } from "./freed-slots.js";

/**
 * Why the schedule no longer has the slot of an appointment. If several causes apply, the first of them in this list is
 * stored.
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

/**
 * The cause of a displacement. An appointment is displaced if its slot is no longer in the schedule and is kept only
 * for the appointment.
 */
export interface Displacement {
  readonly cause: DisplacementCause;
  /** The id of the block if the cause is BLOCK; otherwise undefined. */
  readonly blockId: string | undefined;
  /** Whether staff accepted that the appointment takes place in spite of the cause. */
  readonly isAccepted: boolean;
}

/** A stored slot. It belongs to the schedule or was made for one appointment. */
export interface SlotRecord {
  readonly id: string;
  readonly programId: string;
  /**
   * The id of the rule of the slot. Undefined if the slot was made for an overbooked appointment. Such a slot is
   * deleted when the appointment no longer occupies it.
   */
  readonly ruleId: string | undefined;
  readonly practitionerId: string;
  /** The local date of the slot in America/Bogota, YYYY-MM-DD. */
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
 * Returns the displacement of the appointment that occupies `slots`, as stored in the first `retained` slot. Returns
 * undefined if no slot is `retained`. The slots must be ordered by start.
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
 * Returns the slot of a practitioner in a program that starts at `at`, free or occupied; undefined if there is none.
 * With `begunSince`, returns the last slot that starts at or after `begunSince` and contains `at`. Ignores slots that:
 * - are no longer in the schedule and exist only for their appointment (`retained`)
 * - were made for an overbooked appointment
 * - are not up to date ({@link IS_UP_TO_DATE})
 */
export async function findSlotAt(
  transaction: Transaction,
  { programId, practitionerId }: Pick<SlotRecord, "programId" | "practitionerId">,
  { at, begunSince = at }: { readonly at: Date; readonly begunSince?: Date | undefined },
): Promise<SlotRecord | undefined> {
  const key = { tenant_id: transaction.tenantId, program_id: programId };
  const program = sql({ p: "programs" })
    .where({ tenant_id: key.tenant_id, id: programId })
    .select(sql.raw(IS_UP_TO_DATE));
  const query = sql({ s: "slots" })
    .where({ ...key, practitioner_id: practitionerId })
    .whereRaw("NOT retained AND rule_id IS NOT NULL AND starts_at BETWEEN ? AND ?", [begunSince, at])
    .whereRaw("ends_at > ? AND ?", [at, program])
    .orderBy("starts_at", "desc")
    .limit(1)
    .select(slotColumns);
  return readRecord(transaction, query);
}

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
 * Frees locked slots. Deletes those that are `retained` or have no rule. The practitioner's free slots at these times
 * may then be offered to the waitlist.
 *
 * Call this at most once in a transaction and after all other locks. {@link noteFreedSlots} locks rows of
 * `freed_slots`, which are last in the lock order.
 */
export function releaseSlots(transaction: Transaction, slots: readonly SlotRecord[]): void {
  vacateSlots(transaction, slots);
  noteFreedSlots(transaction, slots);
}

/**
 * Assigns the locked `slots` to an appointment. Frees the slots in `held` that are not in `slots`, as
 * {@link vacateSlots} does. `held` are the locked slots that the appointment occupied before.
 */
export function exchangeSlots(
  transaction: Transaction,
  held: readonly SlotRecord[],
  slots: readonly SlotRecord[],
  appointmentId: string,
): void {
  const { going, staying } = parted(held);
  const { tenantId: tenant_id } = transaction;
  removeSlots(transaction, going);
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
  removeSlots(transaction, going);
  if (staying.length > 0) transaction.send(occupy({ tenant_id, ids: idsOf(staying), appointment_id: null }));
}

function removeSlots(transaction: Transaction, slots: readonly SlotRecord[]): void {
  if (slots.length > 0) transaction.send(remove({ tenant_id: transaction.tenantId, ids: idsOf(slots) }));
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
