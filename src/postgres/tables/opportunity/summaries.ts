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

/** The maximum number of changes that one call of {@link moveChanges} adds to `opportunity_summaries`. */
const BATCH = 10_000;

/** The maximum number of appointments that one call of {@link buildSummaries} adds to `opportunity_summaries`. */
const PART = 20_000;

const LEAST_ID = "00000000-0000-0000-0000-000000000000";
const GREATEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const INCOMPLETE = `SELECT DISTINCT p.tenant_id AS id FROM programs p WHERE p.materialized_through IS NOT NULL
  AND NOT EXISTS (SELECT FROM opportunity_states s WHERE s.tenant_id = p.tenant_id AND s.built_through IS NULL)`;
const CHANGED = "SELECT DISTINCT tenant_id AS id FROM opportunity_changes";

/**
 * Returns the ids of the tenants whose rows of `opportunity_summaries` are incomplete. Omits tenants without a program
 * that has a schedule.
 */
export function findTenantsWithoutSummaries(source: TransactionSource): Promise<string[]> {
  return findTenants(source, INCOMPLETE);
}

/**
 * Returns the ids of the tenants with rows in `opportunity_changes`. These changes are not in `opportunity_summaries`
 * yet.
 */
export function findTenantsWithChanges(source: TransactionSource): Promise<string[]> {
  return findTenants(source, CHANGED);
}

/**
 * Marks the summaries of waits (`opportunity_summaries`) of all tenants as not built. A job builds them again. Until
 * then, the indicators are computed from the appointments.
 */
export async function dropAllSummaries(source: TransactionSource): Promise<void> {
  await runAcrossTenants(source, SCOPE, (transaction) => transaction.rows(sql.raw("DELETE FROM opportunity_states")));
}

/**
 * Marks the summaries of waits (`opportunity_summaries`) of the tenant as not built. A job builds them again. Until
 * then, the tenant's indicators are computed from the appointments.
 */
export function dropSummaries(transaction: Transaction): void {
  transaction.send(sql("opportunity_states").where({ tenant_id: transaction.tenantId }).delete());
}

const SUMS = cellSums.join(", ");
const KEPT = cellSums.map((sum) => `${sum} = opportunity_summaries.${sum} + excluded.${sum}`).join(", ");
/** The beginning of an INSERT. A WITH clause must come after this text, because Citus rejects WITH before INSERT. */
const INTO = `INSERT INTO opportunity_summaries (tenant_id, ${cellKey}, ${SUMS})`;
/**
 * The end of an INSERT: adds the CTE `cells` to `opportunity_summaries`. Reads the id of the tenant from
 * `opportunity_states`, so that Citus can route the statement.
 */
const ADD = `SELECT s.tenant_id, ${cellKey}, ${SUMS} FROM cells CROSS JOIN opportunity_states s WHERE s.tenant_id = :tenant
  ON CONFLICT (tenant_id, ${cellKey}) DO UPDATE SET ${KEPT}`;

const MOVE = `${INTO} WITH counted AS (${COUNTED_CHANGES} AND id = ANY(:ids::uuid[])), ${CELLS} ${ADD}`;

/**
 * Adds a range of appointments to `opportunity_summaries`. The appointments already contain the changes that
 * {@link moveChanges} will add later. So the statement subtracts these changes, and no change counts twice. It reads
 * appointments and changes in one snapshot, so concurrent calls do not make the sums wrong.
 */
const BUILD = `${INTO} WITH counted AS (${COUNTED_APPOINTMENTS} AND id > :after::uuid AND id <= :through::uuid
    UNION ALL ${CHANGES_TAKEN_BACK} AND appointment_id > :after::uuid AND appointment_id <= :through::uuid), ${CELLS} ${ADD}`;

/**
 * SQL that selects the service id of each row of `opportunity_summaries` that is missing or does not agree with the
 * appointments. Selects nothing until all rows of the tenant are built.
 */
export const WRONG_SUMMARIES = `WITH counted AS (${COUNTED_APPOINTMENTS} UNION ALL ${CHANGES_TAKEN_BACK}), ${CELLS} SELECT service_id FROM (
    SELECT ${cellKey}, ${SUMS} FROM cells
    UNION ALL SELECT ${cellKey}, ${cellSums.map((sum) => `-${sum}`).join(", ")} FROM opportunity_summaries
    WHERE tenant_id = :tenant) AS compared
  WHERE EXISTS (SELECT FROM opportunity_states WHERE tenant_id = :tenant AND built_through IS NULL)
  GROUP BY ${cellKey} HAVING ${cellSums.map((sum) => `sum(${sum}) <> 0`).join(" OR ")}`;

/**
 * Adds at most 20,000 further appointments of a tenant to `opportunity_summaries`, in the order of their ids. Returns
 * whether more appointments may be left.
 *
 * Waits in business days depend on holidays, so holidays cannot change during the transaction. If a holiday that can
 * affect these waits changes between two transactions, the summaries are built again from the start; see `remakeDate`.
 */
export async function buildSummaries(transaction: Transaction): Promise<boolean> {
  const { tenantId: tenant } = transaction;
  shareCalendar(transaction);
  const begun = { tenant_id: tenant, built_through: LEAST_ID };
  const inserted = sql("opportunity_states").insert(begun).onConflict().ignore().returning("tenant_id");
  const [isNew, [state]] = await Promise.all([transaction.rows(inserted), lockState(transaction)]);
  const after = state?.built_through ?? undefined;
  if (after === undefined) return false;
  if (isNew.length > 0) transaction.send(sql("opportunity_summaries").where({ tenant_id: tenant }).delete());
  const last = sql("appointments").where({ tenant_id: tenant }).where("id", ">", after).orderBy("id").select("id");
  const [end] = await transaction.rows<{ id: string }>(last.offset(PART - 1).limit(1));
  transaction.send(sql.raw(BUILD, { tenant, after, through: end?.id ?? GREATEST_ID }));
  transaction.send(
    sql("opportunity_states")
      .where({ tenant_id: tenant })
      .update({ built_through: end?.id ?? null }),
  );
  return end !== undefined;
}

function lockState(transaction: Transaction): Promise<{ built_through: string | null }[]> {
  const state = sql("opportunity_states").where({ tenant_id: transaction.tenantId });
  return transaction.rows(state.select("built_through").forUpdate());
}

/**
 * Moves at most 10,000 changes of a tenant from `opportunity_changes` to `opportunity_summaries`. Returns whether more
 * changes may be left. Returns false and moves nothing if the tenant's summaries are not complete.
 */
export async function moveChanges(transaction: Transaction): Promise<boolean> {
  const { tenantId: tenant } = transaction;
  shareCalendar(transaction);
  const [state] = await lockState(transaction);
  if (state === undefined || state.built_through !== null) return false;
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
