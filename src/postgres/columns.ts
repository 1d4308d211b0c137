import type { Statement, Transaction } from "../call.js";

/** The column of each attribute of a record; the only place where the names of columns stand. */
export type ColumnsOf<R extends object> = { readonly [K in keyof R]-?: string };

/** A value for each of these columns. */
type RowOf<C extends object> = Record<Extract<C[keyof C], string>, unknown>;

/**
 * The columns of a record, to write: what is undefined is NULL. Attributes that have no column are left out. A list goes
 * as an array; what is to be JSON has to be text already.
 */
export function toRow<C extends Readonly<Record<string, string>>>(
  columns: C,
  record: { readonly [K in keyof C]: unknown },
): RowOf<C> {
  const row: Record<string, unknown> = {};
  for (const attribute in columns) row[columns[attribute] as string] = record[attribute] ?? null;
  return row as RowOf<C>;
}

/** Like {@link toRow}, of those attributes alone that are there, even where they are undefined. */
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

/** Runs a statement that selects, or returns, by a map of columns, and gives the records: what is NULL is undefined. */
export async function readRecords<R extends object>(
  transaction: Pick<Transaction, "rows">,
  statement: Statement,
): Promise<R[]> {
  const rows = await transaction.rows<Record<string, unknown>>(statement);
  for (const row of rows) nullToUndefined(row);
  return rows as R[];
}

/** The first of {@link readRecords}; undefined where there is none. */
export async function readRecord<R extends object>(
  transaction: Pick<Transaction, "rows">,
  statement: Statement,
): Promise<R | undefined> {
  return (await readRecords<R>(transaction, statement))[0];
}

function nullToUndefined(row: Record<string, unknown>): void {
  for (const attribute in row) row[attribute] ??= undefined;
}
