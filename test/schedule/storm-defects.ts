import type { Knex } from "knex";
import { DatabaseError } from "pg";
import type { Statement, Transaction } from "../../src/call.js";
import { sql } from "../../src/postgres/sql.js";
import type * as counters from "../../src/postgres/tables/appointments/day-counters.js";
import type * as slots from "../../src/postgres/tables/schedule/slot-locks.js";

/** A defect in the booking of slots that a test can seed. */
export type Defect =
  /** Slots and practitioners are read, but not locked. */
  | "CHECK_WITHOUT_LOCK"
  /** The daily capacity is counted outside the transaction, even if it rolls back. */
  | "COUNTER_OUTSIDE_TRANSACTION";

/** Runs SQL on a separate connection. */
type Query = (text: string) => Promise<Record<string, unknown>[]>;

let seeded: Defect | undefined;
let query: Query = () => Promise.reject(new Error("no defect is seeded"));

/**
 * Activates a defect in the modules that {@link withoutLocks} and {@link withStrayCounter} wrap. Undefined deactivates
 * it.
 */
export function seedDefect(defect: Defect | undefined, elsewhere: Query): void {
  seeded = defect;
  query = elsewhere;
}

/** Wraps the module of slot locks. Its functions do not lock while the defect CHECK_WITHOUT_LOCK is active. */
export function withoutLocks(sound: typeof slots): typeof slots {
  return {
    ...sound,
    lockSlots: (transaction, which) => sound.lockSlots(without("CHECK_WITHOUT_LOCK", transaction), which),
    lockPractitionerOf: (transaction, id) => sound.lockPractitionerOf(without("CHECK_WITHOUT_LOCK", transaction), id),
    lockPractitioner: (transaction, id) => sound.lockPractitioner(without("CHECK_WITHOUT_LOCK", transaction), id),
  };
}

/**
 * Every twentieth call fails with a serialization failure after it has counted, and is retried. A call of the service
 * is tried at most four times, so a rate this low fails none of them for good.
 */
const REPEATED = 20;

/**
 * Wraps the module of day counters. Its functions count outside the transaction while the defect
 * COUNTER_OUTSIDE_TRANSACTION is active.
 */
export function withStrayCounter(sound: typeof counters): typeof counters {
  let counted = 0;
  return {
    ...sound,
    requireCapacity(transaction, day, nowMs, refusal) {
      sound.requireCapacity(without("COUNTER_OUTSIDE_TRANSACTION", transaction), day, nowMs, refusal);
      counted += 1;
      if (counted % REPEATED === 0) throw serializationFailure();
    },
    takeCapacity: (transaction, day, nowMs) =>
      sound.takeCapacity(without("COUNTER_OUTSIDE_TRANSACTION", transaction), day, nowMs),
    giveCapacityBack: (transaction, day) =>
      sound.giveCapacityBack(without("COUNTER_OUTSIDE_TRANSACTION", transaction), day),
  };
}

function serializationFailure(): DatabaseError {
  const failure = new DatabaseError("could not serialize access", 0, "error");
  failure.code = "40001";
  return failure;
}

/** Returns the transaction, changed by the defect if it is active. */
function without(defect: Defect, transaction: Transaction): Transaction {
  if (seeded !== defect) return transaction;
  return defect === "CHECK_WITHOUT_LOCK" ? lockless(transaction) : outside(transaction);
}

function lockless(transaction: Transaction): Transaction {
  const unlocked = (statement: Statement): Statement => {
    const { sql: text, bindings } = statement.toSQL().toNative();
    const native = { sql: text.replace(/ for no key update$/, ""), bindings };
    return { toSQL: () => ({ toNative: () => native }) };
  };
  return {
    tenantId: transaction.tenantId,
    rows: (statement) => transaction.rows(unlocked(statement)),
    send: (statement) => transaction.send(unlocked(statement)),
    require: (statement, refusal) => transaction.require(statement, refusal),
  };
}

/** Runs statements one after the other, as a transaction would. */
function outside({ tenantId }: Transaction): Transaction {
  let before: Promise<unknown> = Promise.resolve();
  const run = (statement: Statement) => {
    const { sql: text, bindings } = statement.toSQL().toNative();
    const done = before.then(() => query(sql.raw(text.replaceAll(/\$\d+/g, "?"), bindings as Knex.Value[]).toQuery()));
    before = done.catch(() => undefined);
    return done;
  };
  return {
    tenantId,
    rows: async <Row extends object>(statement: Statement) => (await run(statement)) as Row[],
    send: (statement) => void run(statement).catch(() => undefined),
    require: ({ required }) => void run(required).catch(() => undefined),
  };
}
