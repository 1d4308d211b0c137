import type { Transaction } from "../../../call.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

/** A program of some tenant. */
export interface DueProgram {
  readonly tenantId: string;
  readonly id: string;
}

const DUE = `SELECT tenant_id AS "tenantId", id FROM programs WHERE materialized_through < ? ORDER BY tenant_id, id`;

/**
 * The programs of all tenants whose schedule is made, but ends before a local date, YYYY-MM-DD. A policy of row-level
 * security lets a transaction with cupo.jobs read the programs that have a schedule, and nothing else.
 */
export function findDuePrograms(source: TransactionSource, date: string): Promise<DueProgram[]> {
  return runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<DueProgram>(sql.raw(DUE, [date])),
  );
}

/** Locks a program against every other change of its schedule until the transaction ends. */
export function lockProgram(transaction: Transaction, id: string): void {
  const program = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("programs").where(program).select("id").forNoKeyUpdate());
}
