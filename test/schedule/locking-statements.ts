import type { SentStatement } from "../support/sent-statements.js";

/** A statement wrapped so that it fails if it writes no row. */
const REQUIRED = /^with "written" as \((.*)\) select 1 \/ count\(\*\) from "written"$/s;
/**
 * Statements that lock rows. Inserts are included only for tables in which concurrent transactions insert the same row.
 */
const LOCKS = [
  /^insert into "?(idempotency_keys|calendars|consumed_option_tokens|day_counters)\b/i,
  /\bfrom "?(\w+)"?[^()]*\bfor (?:no key update|update|share)\b/i,
  /^(?:WITH .*)?\b(?:update|delete from) "?(\w+)"?/is,
];

/** Returns the table whose rows a statement locks. Undefined if it locks none. */
export function lockedTable(text: string): string | undefined {
  const plain = withoutReads(REQUIRED.exec(text)?.[1] ?? text);
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
  return [...new Set(changes.map(({ values }) => values.find((value) => /^\d{4}-\d\d-\d\d/.test(`${value}`)) ?? ""))];
}
