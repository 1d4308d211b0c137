import type { Transaction } from "../../call.js";
import { prepared } from "../prepared.js";
import { sql } from "../sql.js";

const begin = prepared([], () => sql.raw("SAVEPOINT trial"))({});
/** Fails if an earlier statement has failed. Without this statement, ROLLBACK TO SAVEPOINT would hide that failure. */
const check = prepared([], () => sql.raw("SELECT"))({});
const end = prepared([], () => sql.raw("ROLLBACK TO SAVEPOINT trial"))({});

/**
 * Does the work and returns its result. Undoes all changes of the work in the database and releases the locks that the
 * work took. Rejects if the work rejects, or if one of its statements fails. The function then undoes nothing itself,
 * so the caller must roll back the transaction.
 */
export async function onTrial<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  transaction.send(begin);
  const result = await work();
  await transaction.rows(check);
  transaction.send(end);
  return result;
}
