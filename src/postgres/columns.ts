import type { Statement, Transaction } from "../call.js";

/** The column name of each attribute of a record. */
export type ColumnsOf<R extends object> = { readonly [K in keyof R]-?: string };

/** A value for each column. */
type RowOf<C extends object> = Record<Extract<C[keyof C], string>, unknown>;

/**
 * Converts a record to a row for writing. Undefined becomes NULL; attributes without a column are omitted. Arrays are
 * passed as arrays. A value for a JSON column must already be JSON text.
 */
export function toRow<C extends Readonly<Record<string, string>>>(
  columns: C,
  record: { readonly [K in keyof C]: unknown },
): RowOf<C> {
  const row: Record<string, unknown> = {};
  for (const attribute in columns) row[columns[attribute] as string] = record[attribute] ?? null;
  return row as RowOf<C>;
}

/**
 * Like {@link toRow}, but only for the attributes that the record has. An attribute that is present and undefined
 * becomes NULL.
 */
export function toPartialRow<C extends Readonly<Record<string, string>>>(
  columns: C,
  record: { readonly [K in keyof C]?: unknown },
): Partial<RowOf<C>> {
  const row: Record<string, unknown> = {};
  for (const attribute in columns) {
    if (attribute in record) row[columns[attribute] as string] = record[attribute] ?? null;
  }
  return row as Partial<RowOf<C>>;
}

/**
 * Runs a SELECT or a statement with RETURNING whose columns have the names of attributes. Returns the rows as records,
 * with undefined for NULL.
 */
export async function readRecords<R extends object>(
  transaction: Pick<Transaction, "rows">,
  statement: Statement,
): Promise<R[]> {
  const rows = await transaction.rows<Record<string, unknown>>(statement);
  for (const row of rows) nullToUndefined(row);
  return rows as R[];
}

/** Returns the first record of {@link readRecords}; undefined if there is none. */
export async function readRecord<R extends object>(
  transaction: Pick<Transaction, "rows">,
  statement: Statement,
): Promise<R | undefined> {
  return (await readRecords<R>(transaction, statement))[0];
}

/**
 * Runs a query that returns exactly one row, such as an aggregate without GROUP BY. Returns the row with null for NULL.
 * Rejects if there is no row.
 */
export async function readOnlyRow<Row extends object>(
  transaction: Pick<Transaction, "rows">,
  statement: Statement,
): Promise<Row> {
  const [row] = await transaction.rows<Row>(statement);
  if (row === undefined) throw new Error("the query returned no row");
  return row;
}

function nullToUndefined(row: Record<string, unknown>): void {
  for (const attribute in row) row[attribute] ??= undefined;
}
