import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";
import { shareCalendar } from "../schedule/calendars.js";
import {
  CELLS,
  CHANGES_TAKEN_BACK,
  COUNTED_APPOINTMENTS,
  COUNTED_CHANGES,
  cellKey,
  cellSums,
} from "./summary-cells.js";

const SCOPE = { setting: "cupo.jobs", value: "on" } as const;

/** The highest number of changes that one transaction moves to the summaries. */
const BATCH = 10_000;

const INCOMPLETE = `SELECT DISTINCT p.tenant_id AS id FROM programs p WHERE p.materialized_through IS NOT NULL
  AND NOT EXISTS (SELECT FROM opportunity_states s WHERE s.tenant_id = p.tenant_id)`;
const CHANGED = "SELECT DISTINCT tenant_id AS id FROM opportunity_changes";

/** Returns the tenants with a schedule whose summaries are not complete. */
export function findTenantsWithoutSummaries(source: TransactionSource): Promise<string[]> {
  return findTenants(source, INCOMPLETE);
}

/** Returns the tenants with changes that are not in the summaries. */
export function findTenantsWithChanges(source: TransactionSource): Promise<string[]> {
  return findTenants(source, CHANGED);
}

/** Makes the indicators of all tenants come from their appointments until their summaries are built anew. */
export async function dropAllSummaries(source: TransactionSource): Promise<void> {
  await runAcrossTenants(source, SCOPE, (transaction) => transaction.rows(sql.raw("DELETE FROM opportunity_states")));
}

/** Makes the indicators of the tenant come from its appointments until its summaries are built anew. */
export function dropSummaries(transaction: Transaction): void {
  transaction.send(sql("opportunity_states").where({ tenant_id: transaction.tenantId }).delete());
}

const SUMS = cellSums.join(", ");
const KEPT = cellSums.map((sum) => `${sum} = opportunity_summaries.${sum} + excluded.${sum}`).join(", ");
const ADD = `INSERT INTO opportunity_summaries (tenant_id, ${cellKey}, ${SUMS})
  SELECT :tenant::uuid, ${cellKey}, ${SUMS} FROM cells`;

/**
 * The summaries of all appointments, less the changes that are still to be moved. One snapshot has both. So summaries
 * and changes equal the appointments, whatever commits meanwhile.
 */
const WITHOUT_CHANGES = `WITH counted AS (${COUNTED_APPOINTMENTS} UNION ALL ${CHANGES_TAKEN_BACK}), ${CELLS}`;
const BUILD = `${WITHOUT_CHANGES} ${ADD}`;
const MOVE = `WITH counted AS (${COUNTED_CHANGES} AND id = ANY(:ids::uuid[])), ${CELLS} ${ADD}
  ON CONFLICT (tenant_id, ${cellKey}) DO UPDATE SET ${KEPT}`;

/** SQL for the services of summaries that differ from the appointments, if the summaries of the tenant are complete. */
export const WRONG_SUMMARIES = `${WITHOUT_CHANGES} SELECT service_id FROM (
    SELECT ${cellKey}, ${SUMS} FROM cells
    UNION ALL SELECT ${cellKey}, ${cellSums.map((sum) => `-${sum}`).join(", ")} FROM opportunity_summaries
    WHERE tenant_id = :tenant) AS both
  WHERE EXISTS (SELECT FROM opportunity_states WHERE tenant_id = :tenant)
  GROUP BY ${cellKey} HAVING ${cellSums.map((sum) => `sum(${sum}) <> 0`).join(" OR ")}`;

/**
 * Builds the summaries of a tenant from its appointments. Holidays cannot change meanwhile, because waits in business
 * days depend on them. If another transaction builds them, it waits for it and does nothing.
 */
export async function buildSummaries(transaction: Transaction): Promise<void> {
  const { tenantId: tenant } = transaction;
  shareCalendar(transaction);
  const state = sql("opportunity_states").insert({ tenant_id: tenant }).onConflict().ignore().returning("tenant_id");
  if ((await transaction.rows(state)).length === 0) return;
  transaction.send(sql("opportunity_summaries").where({ tenant_id: tenant }).delete());
  transaction.send(sql.raw(BUILD, { tenant }));
}

/**
 * Moves a batch of changes of a tenant to its summaries. Returns whether others may be left. Moves nothing unless the
 * summaries are complete.
 */
export async function moveChanges(transaction: Transaction): Promise<boolean> {
  const { tenantId: tenant } = transaction;
  shareCalendar(transaction);
  const state = sql("opportunity_states").where({ tenant_id: tenant }).select("tenant_id").forUpdate();
  if ((await transaction.rows(state)).length === 0) return false;
  const found = sql("opportunity_changes").where({ tenant_id: tenant }).orderBy("id").limit(BATCH).select("id");
  const ids = (await transaction.rows<{ id: string }>(found)).map(({ id }) => id);
  transaction.send(sql.raw(MOVE, { tenant, ids }));
  transaction.send(
    sql("opportunity_changes").where({ tenant_id: tenant }).whereRaw("id = ANY(?::uuid[])", [ids]).delete(),
  );
  return ids.length === BATCH;
}

async function findTenants(source: TransactionSource, query: string): Promise<string[]> {
  const rows = await runAcrossTenants(source, SCOPE, (transaction) => transaction.rows<{ id: string }>(sql.raw(query)));
  return rows.map(({ id }) => id);
}
