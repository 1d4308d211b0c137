import type { Knex } from "knex";
import type { Statement, Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { type Parameter, prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { type SlotRecord, slotColumns } from "./slots.js";

/** A run of slots, one behind the other: those of the first one's practitioner, program and rule in so much time. */
export interface SlotRun {
  readonly firstSlotId: string;
  readonly minutes: number;
}

/**
 * The slots of a run that still are, and those that an appointment occupies: locked in the order of their ids until the
 * transaction ends, and given in the order in which they begin. Slots that are only kept for an appointment are in no run.
 *
 * The ids are a list that is made once: PostgreSQL would look for a row that it had to wait for in a subquery again, and
 * might not find it, so that a slot that somebody has taken would seem to be gone.
 */
export async function lockSlots(
  transaction: Transaction,
  { run, occupiedBy }: { readonly run?: SlotRun | undefined; readonly occupiedBy?: string | undefined },
): Promise<readonly SlotRecord[]> {
  const { tenantId } = transaction;
  if (run === undefined)
    return occupiedBy === undefined ? [] : inOrder(transaction, lockOccupied({ tenantId, occupiedBy }));
  if (occupiedBy === undefined) return inOrder(transaction, lockRun({ tenantId, ...run }));
  return inOrder(transaction, lockRunAndOccupied({ tenantId, ...run, occupiedBy }));
}

async function inOrder(transaction: Transaction, statement: Statement): Promise<readonly SlotRecord[]> {
  const slots = await readRecords<SlotRecord>(transaction, statement);
  return slots.toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
}

/** Locks the slots with the ids that a statement gives. */
function lockThose<Name extends string>(names: readonly ("tenantId" | Name)[], ids: string) {
  return prepared(names, (parameters) =>
    sql("slots")
      .where({ tenant_id: parameters.tenantId })
      .whereRaw("id = ANY(ARRAY(?))", [sql.raw(ids, parameters)])
      .orderBy("id")
      .select(slotColumns)
      .forNoKeyUpdate(),
  );
}

/**
 * SQL for the slots `r` of a run that begins with the slot `f`, by the members of {@link SlotRun} and `tenantId`. OFFSET keeps
 * the two apart: under row-level security a join would not use the end of the time for the index.
 */
export const RUN_OF_SLOTS = `FROM slots f CROSS JOIN LATERAL (
    SELECT s.id, s.starts_at, s.ends_at FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = f.program_id
      AND s.practitioner_id = f.practitioner_id AND NOT s.retained AND s.rule_id IS NOT NULL AND s.rule_id = f.rule_id
      AND s.starts_at >= f.starts_at AND s.starts_at < f.starts_at + make_interval(mins => :minutes::integer) OFFSET 0) AS r
  WHERE f.tenant_id = :tenantId AND f.id = :firstSlotId`;
const IDS_OF_RUN = `SELECT r.id ${RUN_OF_SLOTS}`;
const IDS_OF_APPOINTMENT = "SELECT id FROM slots WHERE tenant_id = :tenantId AND appointment_id = :occupiedBy";
const lockRun = lockThose(["tenantId", "firstSlotId", "minutes"], IDS_OF_RUN);
const lockOccupied = lockThose(["tenantId", "occupiedBy"], IDS_OF_APPOINTMENT);
const lockRunAndOccupied = lockThose(
  ["tenantId", "firstSlotId", "minutes", "occupiedBy"],
  `${IDS_OF_RUN} UNION ALL ${IDS_OF_APPOINTMENT}`,
);

/** The slots of a run among others, if the first one still is. Whether they fill its time is for the caller to judge. */
export function slotsOfRun(slots: readonly SlotRecord[], { firstSlotId, minutes }: SlotRun): readonly SlotRecord[] {
  const first = slots.find(({ id }) => id === firstSlotId);
  if (first === undefined) return [];
  const startMs = first.startsAt.getTime();
  return slots.filter(
    ({ programId, practitionerId, ruleId, startsAt, retained }) =>
      programId === first.programId &&
      practitionerId === first.practitionerId &&
      ruleId === first.ruleId &&
      !retained &&
      startsAt.getTime() >= startMs &&
      startsAt.getTime() < startMs + minutes * 60_000,
  );
}

/**
 * The slots that the rules of an appointment have in its time, taken or not: locked in the order of their ids until the
 * transaction ends, and given in the order in which they begin. None for an overbooked one.
 */
export async function lockFormerSlots(transaction: Transaction, appointmentId: string): Promise<readonly SlotRecord[]> {
  const { tenantId } = transaction;
  return inOrder(transaction, lockFormer({ tenantId, appointmentId }));
}

const IDS_OF_FORMER = `SELECT s.id FROM appointments a JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = a.program_id
    AND s.practitioner_id = a.practitioner_id AND s.rule_id = a.rule_id AND s.starts_at >= a.starts_at AND s.ends_at <= a.ends_at
  WHERE a.tenant_id = :tenantId AND a.id = :appointmentId`;
const lockFormer = lockThose(["tenantId", "appointmentId"], IDS_OF_FORMER);

/**
 * The slots that locked appointments occupy and, where a practitioner is named, those that the practitioner has in the same
 * programs in the same times, whoever has them: all locked in the order of their ids until the transaction ends, and given in
 * the order in which they begin.
 */
export async function lockSlotsOf(
  transaction: Transaction,
  appointmentIds: readonly string[],
  practitionerId: string | undefined,
): Promise<readonly SlotRecord[]> {
  const { tenantId } = transaction;
  return inOrder(
    transaction,
    lockSlotsOfAll({ tenantId, appointments: appointmentIds, practitioner: practitionerId ?? null }),
  );
}

const WANTED_SLOTS = `SELECT s.id FROM slots s WHERE s.tenant_id = :tenantId AND s.appointment_id = ANY(:appointments::uuid[])
  UNION ALL SELECT s.id FROM appointments a JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = a.program_id
    AND s.practitioner_id = :practitioner::uuid AND s.starts_at >= a.starts_at AND s.ends_at <= a.ends_at
    AND s.rule_id IS NOT NULL AND NOT s.retained
  WHERE a.tenant_id = :tenantId AND a.id = ANY(:appointments::uuid[])`;
const lockSlotsOfAll = lockThose(["tenantId", "appointments", "practitioner"], WANTED_SLOTS);

/**
 * Locks the practitioner of a slot until the transaction ends, so that of two programs one at a time fills an hour of theirs.
 * Says whether they are active; false also where the slot is gone.
 */
export async function lockPractitionerOf(transaction: Transaction, slotId: string): Promise<boolean> {
  return isActive(transaction, lockPractitionerOfSlot({ tenantId: transaction.tenantId, id: slotId }));
}

/** The same of an appointment, whose time it was or is. */
export async function lockPractitionerOfAppointment(transaction: Transaction, appointmentId: string): Promise<boolean> {
  return isActive(transaction, lockPractitionerOfTime({ tenantId: transaction.tenantId, id: appointmentId }));
}

/** The same of a practitioner by id. */
export async function lockPractitioner(transaction: Transaction, practitionerId: string): Promise<boolean> {
  return isActive(transaction, lockPractitionerById({ tenantId: transaction.tenantId, id: practitionerId }));
}

const lockPractitionerOfSlot = lockPractitionerWhere((key) => sql("slots").where(key).select("practitioner_id"));
const lockPractitionerOfTime = lockPractitionerWhere((key) => sql("appointments").where(key).select("practitioner_id"));
const lockPractitionerById = lockPractitionerWhere(({ id }) => id);

function lockPractitionerWhere(idBy: (key: { tenant_id: Parameter; id: Parameter }) => Knex.QueryBuilder | Parameter) {
  return prepared(["tenantId", "id"], ({ tenantId, id }) =>
    sql("practitioners")
      .where({ tenant_id: tenantId })
      .where("id", idBy({ tenant_id: tenantId, id }) as Knex.QueryBuilder)
      .select("active")
      .forNoKeyUpdate(),
  );
}

async function isActive(transaction: Transaction, statement: Statement): Promise<boolean> {
  return (await transaction.rows<{ active: boolean }>(statement))[0]?.active === true;
}
