import type { Transaction } from "../../call.js";
import { prepared } from "../prepared.js";
import { sql } from "../sql.js";

const begin = prepared([], () => sql.raw("SAVEPOINT trial"))({});
/** Fails if an earlier statement has failed. Without this statement, ROLLBACK TO SAVEPOINT would hide that failure. */
const check = prepared([], () => sql.raw("SELECT"))({});
const end = prepared([], () => sql.raw("ROLLBACK TO SAVEPOINT trial"))({});

/**
 * Does the work, undoes all its changes in the database, and returns its result. Also releases the locks that the work
 * took. If the work or one of its statements fails, rejects without undoing anything: the caller must roll back the
 * transaction.
 */
export async function onTrial<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  transaction.send(begin);
  const result = await work();
  await transaction.rows(check);
  transaction.send(end);
  return result;
}
