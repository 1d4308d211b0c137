import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** How many slots of a program are free, occupied and in the rules, and occupied without being in them any more. */
export interface SlotCounts {
  readonly open: number;
  readonly booked: number;
  readonly retained: number;
}

/** How far the schedule of a program is made. */
export interface MaterializationState {
  readonly generation: number;
  /**
   * The last local date, YYYY-MM-DD, that is complete. A schedule that is wanted and was never made has one that is past; one
   * of a program that was never complete has none.
   */
  readonly through: string | undefined;
  /** How many practitioners of the program, in their order, have the slots of the date with slots that comes next. */
  readonly staff: number;
  /** When slots were last made; undefined where none ever were. */
  readonly at: Date | undefined;
  /** Whether the program is active: the schedule of one that is not is left to lie. */
  readonly isActive: boolean;
}

const COLUMNS = {
  generation: "generation",
  through: "materialized_through",
  staff: "materialized_staff",
  at: "materialized_at",
  isActive: "active",
} as const satisfies ColumnsOf<MaterializationState>;

/** The state of a program that is not there. */
const NOTHING_MADE: MaterializationState = {
  generation: 1,
  through: undefined,
  staff: 0,
  at: undefined,
  isActive: false,
};

/** How far a part of a schedule brings it. */
export type MaterializationProgress = Required<Pick<MaterializationState, "staff">> & { readonly through: string };

/** How far the schedule of a program is made, and in which generation. */
export async function readMaterialization(transaction: Transaction, programId: string): Promise<MaterializationState> {
  const query = sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).select(COLUMNS);
  return (await readRecord<MaterializationState>(transaction, query)) ?? NOTHING_MADE;
}

/** Writes how far the schedule of a locked program is made. */
export function markMaterialized(
  transaction: Transaction,
  programId: string,
  { through, staff }: MaterializationProgress,
  at: Date,
): void {
  const state = toPartialRow(COLUMNS, { through, staff, at });
  transaction.send(sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).update(state));
}

/**
 * Says of a locked program that its schedule is wanted, if it is complete: if it has an active rule, a practitioner and a
 * service. `before` is the date behind which its slots are to be made. One that was wanted before stays as it is.
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

/** Has the slots of these programs made again from behind a date on, where they are made further than that. */
export function rewindMaterialization(transaction: Transaction, programIds: readonly string[], before: string): void {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .where("materialized_through", ">", before)
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]]);
  transaction.send(query.update({ materialized_through: before, materialized_staff: 0 }));
}

/** Starts a new generation of the schedules of programs: the slots that are made from now on carry it. */
export function startNewGeneration(transaction: Transaction, programIds: readonly string[]): void {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]]);
  transaction.send(query.increment("generation").update({ materialized_staff: 0 }));
}

/** The programs of the tenant whose schedule is wanted. */
export async function findMaterializedPrograms(transaction: Transaction): Promise<readonly string[]> {
  const query = sql("programs").where({ tenant_id: transaction.tenantId }).whereNotNull("materialized_through");
  return (await transaction.rows<{ id: string }>(query.orderBy("id").select("id"))).map(({ id }) => id);
}

/** Those of some programs of the tenant whose schedule was ever made. */
export async function findMadePrograms(
  transaction: Transaction,
  programIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]])
    .whereNotNull("materialized_through")
    .whereNotNull("materialized_at")
    .select("id");
  return new Set((await transaction.rows<{ id: string }>(query)).map(({ id }) => id));
}

/** Counts the open slots of the tenant that lie ahead, to `limit` at most. */
export async function countOpenSlots(transaction: Transaction, now: Date, limit: number): Promise<number> {
  const open = sql("slots").where({ tenant_id: transaction.tenantId, appointment_id: null });
  const counted = open.where("starts_at", ">", now).select(sql.raw("1")).limit(limit).as("open");
  const [row] = await transaction.rows<{ count: number }>(sql.select(sql.raw("count(*)::int AS count")).from(counted));
  return row?.count ?? 0;
}

/** Counts the slots of a program that lie ahead. */
export async function countSlots(transaction: Transaction, programId: string, now: Date): Promise<SlotCounts> {
  const [row] = await transaction.rows<SlotCounts>(
    sql("slots")
      .where({ tenant_id: transaction.tenantId, program_id: programId })
      .where("starts_at", ">", now)
      .select(
        sql.raw("count(*) FILTER (WHERE appointment_id IS NULL)::int AS open"),
        sql.raw("count(*) FILTER (WHERE appointment_id IS NOT NULL AND NOT retained)::int AS booked"),
        sql.raw("count(*) FILTER (WHERE retained)::int AS retained"),
      ),
  );
  return row ?? { open: 0, booked: 0, retained: 0 };
}
