import type { SentStatement } from "../support/sent-statements.js";

/** A statement wrapped so that it fails if it writes no row, or the claim of a key, which fails for a suspended tenant. */
const WRAPPED = /^with "(?:written|claimed)" as \((.*)\) select 1 \/ /s;
/**
 * Statements that lock rows. Inserts are included only for tables in which concurrent transactions insert the same row.
 */
const LOCKS = [
  /^insert into "?(idempotency_keys|calendars|consumed_option_tokens|day_counters|hold_holders)\b/i,
  /\bfrom "?(\w+)"?[^()]*\bfor (?:no key update|update|share)\b/i,
  /^(?:WITH .*)?\b(?:update|delete from) "?(\w+)"?/is,
];

/** Whether a statement claims an idempotency key. */
export function isClaim(text: string): boolean {
  return WRAPPED.exec(text)?.[1]?.startsWith('insert into "idempotency_keys"') === true;
}

/** Returns the table whose rows a statement waits for and locks. Undefined if there is none. */
export function lockedTable(text: string): string | undefined {
  if (text.includes(" SKIP LOCKED")) return undefined;
  const plain = withoutReads(WRAPPED.exec(text)?.[1] ?? text);
  return LOCKS.map((lock) => lock.exec(plain)?.[1]).find((table) => table !== undefined);
}

/** Removes parenthesized parts, except those that lock. */
function withoutReads(text: string): string {
  const shorter = text.replaceAll(/\((?![^()]*\bfor (?:no key update|update|share)\b)[^()]*\)/gi, "");
  return shorter === text ? text : withoutReads(shorter);
}

/** Returns the statements that do nothing but lock slots. */
export function slotLocks(statements: readonly SentStatement[]): string[] {
  const locking = statements.map(({ text }) => text).filter((text) => / for (no key )?update\b/i.test(text));
  return locking.filter((text) => lockedTable(text) === "slots");
}

/** Returns the dates of the changed day counters, in the order of their locks. */
export function daysCounted(statements: readonly SentStatement[]): string[] {
  const changes = statements.filter(({ text }) =>
    /^(insert into|update|with "written" as \(update) "?day_counters/i.test(text),
  );
  return [...new Set(changes.map(({ values }) => values.find((value) => /^\d{4}-\d\d-\d\d$/.test(`${value}`)) ?? ""))];
}

/** The lock order. A transaction may skip tables, but never locks one after a later one. */
const ORDER = [
  "idempotency_keys",
  "calendars",
  "programs",
  "patients",
  "waitlist_entries",
  "appointments",
  "consumed_option_tokens",
  "slots",
  "practitioners",
  "appointment_holds",
  "day_counters",
  "hold_holders",
];

/**
 * Returns the tables with shared rows that were locked, in the order of the first lock, and the number of round trips
 * after the claim of the idempotency key, on its connection. Settings and notifications do not count. Throws if the order is not {@link
 * ORDER}.
 */
export function lockSummary(statements: readonly SentStatement[]) {
  const tables = statements.map(({ text }) => lockedTable(text)).filter((table) => table !== undefined);
  const locked = [...new Set(tables)].filter((table) => ORDER.includes(table));
  const inOrder = ORDER.filter((table) => locked.includes(table));
  if (locked.join() !== inOrder.join()) throw new Error(`not in the one order: ${locked.join(", ")}`);
  const claim = statements.find(({ text }) => isClaim(text));
  const behindTheClaim = statements.filter(
    ({ text, connection }) =>
      connection === claim?.connection && !isClaim(text) && !/^(BEGIN|SET LOCAL |.*pg_notify)/.test(text),
  );
  return { locked, trips: new Set(behindTheClaim.map(({ flight }) => flight)).size };
}
