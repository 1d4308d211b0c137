import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, readRecords, toPartialRow, toRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** A holiday of a tenant. */
export interface HolidayRecord {
  readonly id: string;
  /** YYYY-MM-DD, local in America/Bogota. A tenant has at most one holiday per date. */
  readonly date: string;
  readonly name: string;
  readonly active: boolean;
  readonly version: number;
}

const COLUMNS = {
  id: "id",
  date: "date",
  name: "name",
  active: "active",
  version: "version",
} as const satisfies ColumnsOf<HolidayRecord>;

/** Inserts a holiday. If the date already has a holiday, the commit fails with a conflict on `date`. */
export function insertHoliday(transaction: Transaction, holiday: HolidayRecord, at: Date): void {
  transaction.send(sql("holidays").insert(newRow(transaction, holiday, at)));
}

/** Returns the holiday, locked until the transaction ends; undefined if the tenant has no such holiday. */
export async function lockHoliday(transaction: Transaction, id: string): Promise<HolidayRecord | undefined> {
  const query = sql("holidays").where({ tenant_id: transaction.tenantId, id }).select(COLUMNS).forNoKeyUpdate();
  return readRecord(transaction, query);
}

/** Updates name, active, version and `updated_at` of a holiday that the transaction has locked. */
export function writeHoliday(transaction: Transaction, { id, name, active, version }: HolidayRecord, at: Date): void {
  const key = { tenant_id: transaction.tenantId, id };
  const row = { ...toPartialRow(COLUMNS, { name, active, version }), updated_at: at };
  transaction.send(sql("holidays").where(key).update(row));
}

/** Filters of a list of holidays. Both dates are inclusive; undefined means no restriction. */
export interface HolidayFilter {
  readonly dateFrom: string | undefined;
  readonly dateTo: string | undefined;
  readonly active: boolean | undefined;
}

/**
 * Returns at most `limit` holidays that match the filter, ordered by date. All are later than `afterDate`, if defined.
 */
export async function listHolidays(
  transaction: Transaction,
  { dateFrom, dateTo, active }: HolidayFilter,
  page: { readonly afterDate: string | undefined; readonly limit: number },
): Promise<HolidayRecord[]> {
  const query = sql("holidays")
    .where({ tenant_id: transaction.tenantId })
    .select(COLUMNS)
    .orderBy("date")
    .limit(page.limit);
  if (dateFrom !== undefined) query.where("date", ">=", dateFrom);
  if (dateTo !== undefined) query.where("date", "<=", dateTo);
  if (active !== undefined) query.where({ active });
  if (page.afterDate !== undefined) query.where("date", ">", page.afterDate);
  return readRecords(transaction, query);
}

/** The result of {@link seedHolidays}. Both lists are ordered by date. */
export interface SeededHolidays {
  readonly created: readonly HolidayRecord[];
  /** Holidays that existed before the call. */
  readonly existing: readonly HolidayRecord[];
}

/**
 * Inserts each of `holidays` whose date has no holiday yet. Returns all holidays on these dates. If two transactions
 * seed the same dates, each date gets one holiday: the second transaction finds the holidays of the first.
 */
export async function seedHolidays(
  transaction: Transaction,
  holidays: readonly HolidayRecord[],
  at: Date,
): Promise<SeededHolidays> {
  const rows = holidays.map((holiday) => newRow(transaction, holiday, at));
  const insert = sql("holidays").insert(rows).onConflict(["tenant_id", "date"]).ignore().returning("id");
  const dates = holidays.map(({ date }) => date);
  const query = sql("holidays").where({ tenant_id: transaction.tenantId }).whereRaw("date = ANY(?::date[])", [dates]);
  const [added, kept] = await Promise.all([
    transaction.rows<{ id: string }>(insert),
    readRecords<HolidayRecord>(transaction, query.orderBy("date").select(COLUMNS)),
  ]);
  const addedIds = new Set(added.map(({ id }) => id));
  return {
    created: kept.filter(({ id }) => addedIds.has(id)),
    existing: kept.filter(({ id }) => !addedIds.has(id)),
  };
}

/** Returns the dates of the tenant's active holidays between two dates, both inclusive. */
export async function readActiveHolidayDates(
  transaction: Transaction,
  from: string,
  through: string,
): Promise<Set<string>> {
  const query = sql("holidays")
    .where({ tenant_id: transaction.tenantId, active: true })
    .whereBetween("date", [from, through])
    .select("date");
  return new Set((await transaction.rows<{ date: string }>(query)).map(({ date }) => date));
}

function newRow({ tenantId }: Transaction, holiday: HolidayRecord, at: Date) {
  return { tenant_id: tenantId, ...toRow(COLUMNS, holiday), created_at: at, updated_at: at };
}
