import type { Transaction } from "../../../call.js";
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
  /** The last local date, YYYY-MM-DD, that is complete; undefined for a schedule that was never made. */
  readonly through: string | undefined;
  readonly at: Date | undefined;
}

/** How far the schedule of a program is made, and in which generation. */
export async function readMaterialization(transaction: Transaction, programId: string): Promise<MaterializationState> {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId, id: programId })
    .select({ generation: "generation", through: "materialized_through", at: "materialized_at" });
  const [row] = await transaction.rows<{ generation: number; through: string | null; at: Date | null }>(query);
  return { generation: row?.generation ?? 1, through: row?.through ?? undefined, at: row?.at ?? undefined };
}

/** Writes how far the schedule of a locked program is made. */
export function markMaterialized(transaction: Transaction, programId: string, through: string, at: Date): void {
  const state = { materialized_through: through, materialized_at: at };
  transaction.send(sql("programs").where({ tenant_id: transaction.tenantId, id: programId }).update(state));
}

/** Starts a new generation of the schedules of programs: the slots that are made from now on carry it. */
export function startNewGeneration(transaction: Transaction, programIds: readonly string[]): void {
  const query = sql("programs")
    .where({ tenant_id: transaction.tenantId })
    .whereRaw("id = ANY(?::uuid[])", [programIds as string[]]);
  transaction.send(query.increment("generation"));
}

/** The programs of the tenant whose schedule was made. */
export async function findMaterializedPrograms(transaction: Transaction): Promise<readonly string[]> {
  const query = sql("programs").where({ tenant_id: transaction.tenantId }).whereNotNull("materialized_through");
  return (await transaction.rows<{ id: string }>(query.orderBy("id").select("id"))).map(({ id }) => id);
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
