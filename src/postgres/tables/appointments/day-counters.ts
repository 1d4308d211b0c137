import type { Transaction } from "../../../call.js";
import { sql } from "../../sql.js";

/** Whose capacity on which day. */
export interface DayOfRule {
  readonly ruleId: string;
  readonly localDate: string;
}

/**
 * The day whose capacity something is counted against; undefined for nothing and for an overbooked appointment, which counts
 * against none.
 */
export function countedDay(
  placed: { readonly ruleId: string | undefined; readonly localDate: string } | undefined,
): DayOfRule | undefined {
  if (placed?.ruleId === undefined) return undefined;
  return { ruleId: placed.ruleId, localDate: placed.localDate };
}

/**
 * Takes one unit of a rule's capacity on a date, unless none is left: then the answer is false. The row is locked until the
 * transaction ends, so that of two who want the last unit one gets it.
 */
export async function takeCapacity(transaction: Transaction, { ruleId, localDate }: DayOfRule): Promise<boolean> {
  const rows = await transaction.rows(
    sql.raw(
      `INSERT INTO day_counters AS c (tenant_id, rule_id, local_date, booked)
       SELECT tenant_id, id, ?::date, 1 FROM program_rules WHERE tenant_id = ? AND id = ? AND daily_capacity >= 1
       ON CONFLICT (tenant_id, rule_id, local_date) DO UPDATE SET booked = c.booked + 1
       WHERE c.booked < (SELECT daily_capacity FROM program_rules r WHERE r.tenant_id = c.tenant_id AND r.id = c.rule_id)
       RETURNING booked`,
      [localDate, transaction.tenantId, ruleId],
    ),
  );
  return rows.length === 1;
}

/** Gives one unit of a rule's capacity on a date back. */
export function giveCapacityBack(transaction: Transaction, { ruleId, localDate }: DayOfRule): void {
  const day = { tenant_id: transaction.tenantId, rule_id: ruleId, local_date: localDate };
  transaction.send(sql("day_counters").where(day).decrement("booked"));
}

/** Locks the counters of days in their one order until the transaction ends: for whoever changes several of them. */
export function lockDays(transaction: Transaction, days: readonly DayOfRule[]): void {
  const { tenantId } = transaction;
  const unique = new Map(days.map((day) => [`${day.ruleId} ${day.localDate}`, day]));
  const ordered = [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
  if (ordered.length === 0) return;
  const rows = ordered.map(({ ruleId, localDate }) => ({
    tenant_id: tenantId,
    rule_id: ruleId,
    local_date: localDate,
    booked: 0,
  }));
  transaction.send(sql("day_counters").insert(rows).onConflict().ignore());
  const keys = [ordered.map(({ ruleId }) => ruleId), ordered.map(({ localDate }) => localDate)];
  const query = sql("day_counters")
    .where({ tenant_id: tenantId })
    .whereRaw("(rule_id, local_date) IN (SELECT * FROM unnest(?::uuid[], ?::date[]))", keys)
    .orderBy(["rule_id", "local_date"])
    .select("rule_id");
  transaction.send(query.forNoKeyUpdate());
}
