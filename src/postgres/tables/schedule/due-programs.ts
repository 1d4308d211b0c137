import type { Transaction } from "../../../call.js";
import { readOnlyRow } from "../../columns.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";
import { PLANNED_DAYS, withSettings } from "./booking-windows.js";

const IS_BEHIND = `p.active AND p.materialized_through < ?::date + ${PLANNED_DAYS}`;

const hasService = (tenant: string) =>
  `EXISTS (SELECT FROM program_services o WHERE o.tenant_id = ${tenant} AND o.program_id = p.id)`;

const DUE = `SELECT DISTINCT p.tenant_id AS id FROM programs p
  LEFT JOIN tenant_settings t ON t.tenant_id = p.tenant_id
  WHERE p.active AND p.outdated_from IS NOT NULL OR ${IS_BEHIND}`;

/**
 * Returns the ids of the tenants that may have a program that is due for a job. {@link lockNextDueProgram} says which
 * programs are due. This function does not check locations and services. `today` is a local date (YYYY-MM-DD).
 *
 * With the setting cupo.jobs, row-level security shows the programs of all tenants, except programs whose schedule was
 * never requested.
 */
export async function findDueTenants(source: TransactionSource, today: string): Promise<string[]> {
  const rows = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<{ id: string }>(sql.raw(DUE, [today])),
  );
  return rows.map(({ id }) => id);
}

const FURTHEST_BEHIND = `SELECT coalesce(max(?::date + ${PLANNED_DAYS} - p.materialized_through), 0) AS days FROM programs p
  JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active
  LEFT JOIN tenant_settings t ON t.tenant_id = p.tenant_id
  WHERE ${IS_BEHIND} AND ${hasService("p.tenant_id")}`;

/**
 * Returns the largest delay of the programs of all tenants, in days; 0 if no program has a delay. The delay of a
 * program is the number of days from the end of its schedule to {@link PLANNED_DAYS} days after `today`. Counts only
 * programs that are active, are at an active location, offer a healthcare service, and have a requested schedule.
 */
export async function findFurthestBehind(source: TransactionSource, today: string): Promise<number> {
  const { days } = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    readOnlyRow<{ readonly days: number }>(transaction, sql.raw(FURTHEST_BEHIND, [today, today])),
  );
  return days;
}

/**
 * Locks the program of the tenant that is due for a job and whose schedule ends first. Returns its id. Programs with
 * outdated slots come before all others, because comparing these slots needs no room for more. Skips programs that
 * other transactions have locked. Returns undefined if no program is left.
 *
 * An active program is due in two cases:
 * - It has outdated slots.
 * - It offers a healthcare service, its location is active, and its requested schedule ends less than
 *   {@link PLANNED_DAYS} days after `today`, a local date.
 */
export async function lockNextDueProgram(transaction: Transaction, today: string): Promise<string | undefined> {
  const query = dueProgramsOf(transaction, today)
    .orderByRaw("p.outdated_from IS NULL, p.materialized_through, p.id")
    .limit(1);
  return (await transaction.rows<{ id: string }>(query.forNoKeyUpdate("p").skipLocked()))[0]?.id;
}

/** Returns whether {@link lockNextDueProgram} would find a program if it did not skip locked programs. */
export async function hasDueProgram(transaction: Transaction, today: string): Promise<boolean> {
  return (await transaction.rows(dueProgramsOf(transaction, today).limit(1))).length > 0;
}

function dueProgramsOf({ tenantId }: Transaction, today: string) {
  return withSettings(sql({ p: "programs" }), tenantId)
    .joinRaw("JOIN locations l ON l.tenant_id = ? AND l.id = p.location_id", [tenantId])
    .where({ "p.tenant_id": tenantId })
    .whereRaw(`(p.active AND p.outdated_from IS NOT NULL OR ${IS_BEHIND} AND l.active AND ${hasService("?")})`, [
      today,
      tenantId,
    ])
    .select({ id: "p.id" });
}
