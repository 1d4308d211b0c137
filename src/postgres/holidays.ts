import type { Transaction } from "../call.js";
import { sql } from "./sql.js";

/** A holiday of a tenant. */
export interface HolidayRecord {
  readonly id: string;
  /** YYYY-MM-DD, local in America/Bogota; one holiday each. */
  readonly date: string;
  readonly name: string;
  readonly active: boolean;
  readonly version: number;
}

const COLUMNS = ["id", "date", "name", "active", "version"] as const;

/** Adds a holiday. A date that has one fails the commit, as a conflict on `date`. */
export function sendHolidayInsert(transaction: Transaction, holiday: HolidayRecord, at: Date): void {
  const row = { tenant_id: transaction.tenantId, ...holiday, created_at: at, updated_at: at };
  transaction.send(sql("holidays").insert(row));
}

/** The holiday, locked until the transaction ends; undefined where the tenant has none of that id. */
export async function lockHoliday(transaction: Transaction, id: string): Promise<HolidayRecord | undefined> {
  const query = sql("holidays").where({ tenant_id: transaction.tenantId, id }).select(COLUMNS).forUpdate();
  return (await transaction.rows<HolidayRecord>(query))[0];
}

/** Writes name, activity and version of a holiday that the transaction has locked. */
export function sendHolidayUpdate(
  transaction: Transaction,
  { id, name, active, version }: HolidayRecord,
  at: Date,
): void {
  const key = { tenant_id: transaction.tenantId, id };
  transaction.send(sql("holidays").where(key).update({ name, active, version, updated_at: at }));
}
