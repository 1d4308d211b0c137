import type { Knex } from "knex";
import type { Statement, Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { type Parameter, prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { type SlotRecord, slotColumns } from "./slots.js";

/**
 * Adjacent slots of one practitioner, program, rule and local date. `firstSlotId` is the id of the first slot.
 * Together, the slots last `minutes` minutes.
 */
export interface SlotRun {
  readonly firstSlotId: string;
  readonly minutes: number;
}

/**
 * Locks slots until the transaction ends, in the order of their ids. Returns them ordered by start. These slots are:
 * - the slots of `run`, except slots that are `retained` or have no rule; none if the first slot does not exist
 * - the slots that the appointment `occupiedBy` occupies
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

/**
 * Returns a prepared statement. It locks the slots whose ids the query `ids` selects, in the order of the ids, and
 * returns these slots. PostgreSQL evaluates the ARRAY of ids only once. It would evaluate a subquery again after it has
 * waited for a row lock. A slot that another call booked during the wait would then be missing from the result.
 */
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
 * SQL for the slots `r` of a {@link SlotRun} that begins with the slot `f`. Its parameters are `firstSlotId`, `minutes`
 * and `tenantId`. OFFSET 0 keeps PostgreSQL from turning the subquery into a join. Under row-level security, a join
 * would use no index for the upper limit of `starts_at`.
 */
export const RUN_OF_SLOTS = `FROM slots f ${followers(":minutes::integer")}
  WHERE f.tenant_id = :tenantId AND f.id = :firstSlotId`;
const IDS_OF_RUN = `SELECT r.id ${RUN_OF_SLOTS}`;
const IDS_OF_APPOINTMENT = "SELECT id FROM slots WHERE tenant_id = :tenantId AND appointment_id = :occupiedBy";
const lockRun = lockThose(["tenantId", "firstSlotId", "minutes"], IDS_OF_RUN);
const lockOccupied = lockThose(["tenantId", "occupiedBy"], IDS_OF_APPOINTMENT);
const lockRunAndOccupied = lockThose(
  ["tenantId", "firstSlotId", "minutes", "occupiedBy"],
  `${IDS_OF_RUN} UNION ALL ${IDS_OF_APPOINTMENT}`,
);

/**
 * Returns SQL that joins slots as `r`: the slot `f`, and the later slots that start less than `minutes` after `f`. They
 * have the program, practitioner, rule and local date of `f`, because an appointment uses the capacity of one day. None
 * of them is `retained`. Joins no slot if `f` has no rule. Does not check for gaps between the slots. `minutes` is an
 * SQL expression.
 */
function followers(minutes: string): string {
  return `CROSS JOIN LATERAL (
    SELECT s.id, s.starts_at, s.ends_at FROM slots s WHERE s.tenant_id = :tenantId AND s.program_id = f.program_id
      AND s.practitioner_id = f.practitioner_id AND NOT s.retained AND s.rule_id IS NOT NULL AND s.rule_id = f.rule_id
      AND s.local_date = f.local_date AND s.starts_at >= f.starts_at
      AND s.starts_at < f.starts_at + make_interval(mins => ${minutes}) OFFSET 0) AS r`;
}

const IDS_OF_RUNS = `SELECT r.id FROM unnest(:firstSlotIds::uuid[], :minutes::integer[]) AS w (id, minutes)
    JOIN slots f ON f.tenant_id = :tenantId AND f.id = w.id ${followers("w.minutes")}
  UNION SELECT id FROM slots WHERE tenant_id = :tenantId AND appointment_id = ANY(:occupiedBy::uuid[])`;
const lockRuns = lockThose(["tenantId", "firstSlotIds", "minutes", "occupiedBy"], IDS_OF_RUNS);

/**
 * Like {@link lockSlots}, for several runs and several appointments. If the first slot of a run does not exist, locks
 * no slots of this run.
 */
export async function lockSlotsOfRuns(
  transaction: Transaction,
  runs: readonly SlotRun[],
  occupiedBy: readonly string[],
): Promise<readonly SlotRecord[]> {
  const [firstSlotIds, minutes] = [runs.map(({ firstSlotId }) => firstSlotId), runs.map((run) => run.minutes)];
  return inOrder(transaction, lockRuns({ tenantId: transaction.tenantId, firstSlotIds, minutes, occupiedBy }));
}

/**
 * Returns those of `slots` that belong to a {@link SlotRun} and are not `retained`. Returns no slots if the first slot
 * of the run is not in `slots`. Does not check for gaps between the slots.
 */
export function slotsOfRun(slots: readonly SlotRecord[], { firstSlotId, minutes }: SlotRun): readonly SlotRecord[] {
  const first = slots.find(({ id }) => id === firstSlotId);
  if (first === undefined) return [];
  const startMs = first.startsAt.getTime();
  return slots.filter(
    ({ programId, practitionerId, ruleId, localDate, startsAt, retained }) =>
      programId === first.programId &&
      practitionerId === first.practitionerId &&
      ruleId === first.ruleId &&
      localDate === first.localDate &&
      !retained &&
      startsAt.getTime() >= startMs &&
      startsAt.getTime() < startMs + minutes * 60_000,
  );
}

/**
 * Locks the slots, free or occupied, within the time of an appointment that have its program, practitioner and rule.
 * Locks in the order of the slots' ids, until the transaction ends. Returns the slots ordered by start. Returns no
 * slots for an overbooked appointment, because it has no rule.
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
 * Locks slots until the transaction ends, in the order of their ids. Returns them ordered by start. These slots are:
 * - the slots that the appointments `appointmentIds` occupy
 * - the slots of the practitioners `practitionerIds`, free or occupied, that are in the program and within the time of
 *   one of these appointments; no slots that are `retained` or have no rule
 *
 * Call this after the transaction has locked the appointments.
 */
export async function lockSlotsOf(
  transaction: Transaction,
  appointmentIds: readonly string[],
  practitionerIds: readonly string[],
): Promise<readonly SlotRecord[]> {
  const { tenantId } = transaction;
  return inOrder(
    transaction,
    lockSlotsOfAll({ tenantId, appointments: appointmentIds, practitioners: practitionerIds }),
  );
}

const WANTED_SLOTS = `SELECT s.id FROM slots s WHERE s.tenant_id = :tenantId AND s.appointment_id = ANY(:appointments::uuid[])
  UNION ALL SELECT s.id FROM appointments a JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = a.program_id
    AND s.practitioner_id = ANY(:practitioners::uuid[]) AND s.starts_at >= a.starts_at AND s.ends_at <= a.ends_at
    AND s.rule_id IS NOT NULL AND NOT s.retained
  WHERE a.tenant_id = :tenantId AND a.id = ANY(:appointments::uuid[])`;
const lockSlotsOfAll = lockThose(["tenantId", "appointments", "practitioners"], WANTED_SLOTS);

/**
 * Locks the practitioner of a slot until the transaction ends, so that two programs cannot book the same practitioner
 * at the same time. Returns whether the practitioner is active; false if the slot does not exist.
 */
export async function lockPractitionerOf(transaction: Transaction, slotId: string): Promise<boolean> {
  return isActive(transaction, lockPractitionerOfSlot({ tenantId: transaction.tenantId, id: slotId }));
}

/**
 * Locks the practitioner of an appointment like {@link lockPractitionerOf}. Returns whether the practitioner is active;
 * false if the appointment does not exist.
 */
export async function lockPractitionerOfAppointment(transaction: Transaction, appointmentId: string): Promise<boolean> {
  return isActive(transaction, lockPractitionerOfTime({ tenantId: transaction.tenantId, id: appointmentId }));
}

/**
 * Locks a practitioner like {@link lockPractitionerOf}. Returns whether the practitioner is active; false if the
 * practitioner does not exist.
 */
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
