import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

const DUE = `SELECT DISTINCT tenant_id AS id FROM programs WHERE active AND materialized_through < ?`;

/**
 * Returns the tenants with an active program whose requested schedule ends before a local date, YYYY-MM-DD. Row-level
 * security lets a transaction with cupo.jobs read only the programs whose schedule is requested.
 */
export async function findDueTenants(source: TransactionSource, date: string): Promise<string[]> {
  const rows = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<{ id: string }>(sql.raw(DUE, [date])),
  );
  return rows.map(({ id }) => id);
}

const FURTHEST_BEHIND = `SELECT min(p.materialized_through)::text AS through FROM programs p
  JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active
  WHERE p.active AND p.materialized_through < ?
    AND EXISTS (SELECT FROM program_services o WHERE o.tenant_id = p.tenant_id AND o.program_id = p.id)`;

/**
 * Returns the earliest local date at which the schedule of a due program ends, over all tenants; undefined if no
 * schedule ends before `date`. Due programs are those of {@link lockNextDueProgram}. Row-level security allows a
 * transaction with cupo.jobs to read them.
 */
export async function findFurthestBehind(source: TransactionSource, date: string): Promise<string | undefined> {
  const [row] = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<{ through: string | null }>(sql.raw(FURTHEST_BEHIND, [date])),
  );
  return row?.through ?? undefined;
}

/**
 * Locks the due program of the tenant whose schedule ends first, skipping programs that are locked; it does not wait.
 * Returns its id; undefined if there is none. A program is due if its schedule ends before `date`, it and its location
 * are active, and it has a service.
 */
export async function lockNextDueProgram(transaction: Transaction, date: string): Promise<string | undefined> {
  const query = dueProgramsOf(transaction, date).orderBy(["p.materialized_through", "p.id"]).limit(1);
  return (await transaction.rows<{ id: string }>(query.forNoKeyUpdate("p").skipLocked()))[0]?.id;
}

/** Returns whether the tenant has a due program, locked or not. */
export async function hasDueProgram(transaction: Transaction, date: string): Promise<boolean> {
  return (await transaction.rows(dueProgramsOf(transaction, date).limit(1))).length > 0;
}

function dueProgramsOf({ tenantId }: Transaction, date: string) {
  return sql({ p: "programs" })
    .joinRaw("JOIN locations l ON l.tenant_id = ? AND l.id = p.location_id AND l.active", [tenantId])
    .where({ "p.tenant_id": tenantId, "p.active": true })
    .where("p.materialized_through", "<", date)
    .whereExists(sql({ o: "program_services" }).where({ "o.tenant_id": tenantId }).whereRaw("o.program_id = p.id"))
    .select({ id: "p.id" });
}
