import type { Knex } from "knex";
import type { Transaction } from "../../../call.js";
import { HORIZON_DAYS, type Reach } from "../../../scheduling/horizon.js";
import { previousDate } from "../../../scheduling/local-date.js";
import { type ColumnsOf, readOnlyRow, readRecord, readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { HORIZON_OF_PROGRAM, withSettings } from "./booking-windows.js";

/** The numbers of a program's future slots. */
export interface SlotCounts {
  /** Slots without an appointment. A hold may reserve them. */
  readonly open: number;
  /** Occupied slots that are not `retained`, including those of overbooked appointments. */
  readonly booked: number;
  /** Slots that are no longer in the schedule and exist only for displaced appointments. */
  readonly retained: number;
}

/**
 * The state of the schedule of a program: through which date its slots have been created, and which slots are outdated.
 */
export interface MaterializationState extends Reach {
  readonly generation: number;
  /**
   * The last local date, YYYY-MM-DD, through which all slots exist. It is a past date if the schedule was requested but
   * no slots have been created yet. Undefined if the schedule was never requested.
   */
  readonly through: string | undefined;
  /**
   * How many practitioners already have their slots on the first date after `through` that has slots. Above 0 only if
   * several steps create the slots of this date. Each step creates the slots of the next active practitioners in the
   * program's list.
   */
  readonly staff: number;
  /** When the schedule was last created or extended, even if no slot was missing; undefined if it never was. */
  readonly at: Date | undefined;
  /**
   * The slots on and after this local date, YYYY-MM-DD, are outdated: jobs must still compare them with the rules.
   * Undefined if no slots are outdated.
   */
  readonly outdatedFrom: string | undefined;
  /** Whether the program is active. No slots are created for an inactive program. */
  readonly isActive: boolean;
}

const COLUMNS = {
  generation: "p.generation",
  through: "p.materialized_through",
  staff: "p.materialized_staff",
  at: "p.materialized_at",
  isActive: "p.active",
  slotsThrough: "p.slots_through",
  outdatedFrom: "p.outdated_from",
} as const satisfies ColumnsOf<Omit<MaterializationState, "horizonDays">>;

/** The state to return for a program that does not exist. */
const NOTHING_MADE: MaterializationState = {
  generation: 1,
  through: undefined,
  staff: 0,
  at: undefined,
  isActive: false,
  horizonDays: HORIZON_DAYS,
  slotsThrough: undefined,
  outdatedFrom: undefined,
};

/** How far the slots of a program have been created: `through` and `staff` of {@link MaterializationState}. */
export type MaterializationProgress = Required<Pick<MaterializationState, "staff">> & { readonly through: string };

/** Returns the state of the schedule of a program. For an unknown program, returns a state without slots. */
export async function readMaterialization(transaction: Transaction, programId: string): Promise<MaterializationState> {
  const query = statesOf(transaction).where({ "p.id": programId });
  return (await readRecord<MaterializationState>(transaction, query)) ?? NOTHING_MADE;
}

function statesOf({ tenantId }: Transaction) {
  return withSettings(sql({ p: "programs" }), tenantId)
    .where({ "p.tenant_id": tenantId })
    .select(COLUMNS)
    .select({ horizonDays: sql.raw(HORIZON_OF_PROGRAM) });
}

/**
 * Stores how far the slots of a program have been created. `at` is the current time. The transaction must have locked
 * the program.
 */
export function markMaterialized(
  transaction: Transaction,
  programId: string,
  { through, staff }: MaterializationProgress,
  at: Date,
): void {
  const made = { materialized_through: through, materialized_staff: staff, materialized_at: at };
  const slots_through = sql.raw("greatest(slots_through, ?::date)", [through]);
  const query = sql("programs").where({ tenant_id: transaction.tenantId, id: programId });
  transaction.send(query.update({ ...made, slots_through }));
}

/**
 * Marks the slots of a program on and after a local date as outdated. Jobs then adapt these slots to the program's
 * rules and practitioners, and add missing slots. Until then nobody can book these slots. The transaction must have
 * locked the program.
 */
export function markOutdated(transaction: Transaction, programId: string, from: string): void {
  rewindMaterialization(transaction, [programId], previousDate(from));
  setOutdatedFrom(transaction, programId, sql.raw("least(outdated_from, ?::date)", [from]));
}

/**
 * Stores that a program has no outdated slots. The transaction must have locked the program, and must have compared the
 * slots that were outdated with the program's rules.
 */
export function markUpToDate(transaction: Transaction, programId: string): void {
  setOutdatedFrom(transaction, programId, null);
}

function setOutdatedFrom(transaction: Transaction, programId: string, outdated_from: Knex.Raw | null): void {
  const query = sql("programs").where({ tenant_id: transaction.tenantId, id: programId });
  transaction.send(query.update({ outdated_from }));
}

/**
 * Requests the schedule of a program: jobs create its slots from the day after the date `before`. Changes nothing if
 * the schedule was already requested, or if the program has no active rule, no practitioner or no healthcare service.
 * The transaction must have locked the program.
 */
export function wantMaterialization(transaction: Transaction, programId: string, before: string): void {
  const key = { tenant_id: transaction.tenantId, program_id: programId };
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId, id: programId, materialized_through: null })
    .whereExists(sql("program_rules").where({ ...key, active: true }))
    .whereExists(sql("program_practitioners").where(key))
    .whereExists(sql("program_services").where(key));
  transaction.send(query.update({ materialized_through: before }));
}

/**
 * Moves the end of these programs' schedules back to the date `before`, so that jobs add missing slots after that date.
 * Existing slots stay, and the jobs begin with the first practitioner. Does not change programs whose schedules end on
 * or before that date.
 */
export function rewindMaterialization(transaction: Transaction, programIds: readonly string[], before: string): void {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .where("materialized_through", ">", before)
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]]);
  transaction.send(query.update({ materialized_through: before, materialized_staff: 0 }));
}

/**
 * Increases the `generation` of these programs. Each new slot gets the current generation of its program. A booking
 * compares the generation of an appointment option with that of its slots, to detect that the slots were replaced.
 *
 * Also sets `staff` to 0, so that jobs begin again with the first practitioner on the first incomplete date
 * ({@link MaterializationState}).
 */
export function startNewGeneration(transaction: Transaction, programIds: readonly string[]): void {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]]);
  transaction.send(query.increment("generation").update({ materialized_staff: 0 }));
}

/** Returns the ids, in ascending order, of the tenant's programs whose schedule was requested. */
export async function findMaterializedPrograms(transaction: Transaction): Promise<readonly string[]> {
  const query = sql("programs").where({ tenant_id: transaction.tenantId }).whereNotNull("materialized_through");
  return (await transaction.rows<{ id: string }>(query.orderBy("id").select("id"))).map(({ id }) => id);
}

/** Like {@link readMaterialization}, for several programs. Returns the states by program id. Omits unknown programs. */
export async function readMaterializations(
  transaction: Transaction,
  programIds: readonly string[],
): Promise<ReadonlyMap<string, MaterializationState>> {
  const query = statesOf(transaction)
    .whereRaw("p.id = ANY(?::uuid[])", [programIds as string[]])
    .select("p.id");
  const states = await readRecords<MaterializationState & { readonly id: string }>(transaction, query);
  return new Map(states.map((state) => [state.id, state]));
}

/** Counts the tenant's free slots that start after `now`. Stops counting at `limit`. */
export async function countOpenSlots(transaction: Transaction, now: Date, limit: number): Promise<number> {
  const open = sql("slots").where({ tenant_id: transaction.tenantId, appointment_id: null });
  const counted = open.where("starts_at", ">", now).select(sql.raw("1")).limit(limit).as("open");
  const query = sql.select(sql.raw("count(*)::int AS count")).from(counted);
  return (await readOnlyRow<{ readonly count: number }>(transaction, query)).count;
}

/** Counts a program's slots that start after `now`. */
export async function countSlots(transaction: Transaction, programId: string, now: Date): Promise<SlotCounts> {
  return readOnlyRow(
    transaction,
    sql("slots")
      .where({ tenant_id: transaction.tenantId, program_id: programId })
      .where("starts_at", ">", now)
      .select(
        sql.raw("count(*) FILTER (WHERE appointment_id IS NULL)::int AS open"),
        sql.raw("count(*) FILTER (WHERE appointment_id IS NOT NULL AND NOT retained)::int AS booked"),
        sql.raw("count(*) FILTER (WHERE retained)::int AS retained"),
      ),
  );
}
