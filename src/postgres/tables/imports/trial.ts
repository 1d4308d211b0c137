import type { Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

const begin = prepared([], () => sql.raw("SAVEPOINT trial"))({});
const end = prepared([], () => sql.raw("ROLLBACK TO SAVEPOINT trial"))({});

/** Begins work that {@link endTrial} takes back. */
export function beginTrial(transaction: Transaction): void {
  transaction.send(begin);
}

/** Takes back everything since {@link beginTrial}, and releases the locks taken since. */
export function endTrial(transaction: Transaction): void {
  transaction.send(end);
}
