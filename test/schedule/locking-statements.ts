import type { SentStatement } from "../support/sent-statements.js";

/** What a statement does that fails where it writes no row. */
const REQUIRED = /^with "written" as \((.*)\) select 1 \/ count\(\*\) from "written"$/s;
/** What is added is new to others and not locked, but for rows that several add at once. */
const LOCKS = [
  /^insert into "?(idempotency_keys|calendars|consumed_option_tokens|day_counters)\b/i,
  /\bfrom "?(\w+)"?[^()]*\bfor (?:no key update|update|share)\b/i,
  /^(?:WITH .*)?\b(?:update|delete from) "?(\w+)"?/is,
];

/** The table of which a statement locks rows; undefined where it locks none. */
export function lockedTable(text: string): string | undefined {
  const plain = withoutReads(REQUIRED.exec(text)?.[1] ?? text);
  return LOCKS.map((lock) => lock.exec(plain)?.[1]).find((table) => table !== undefined);
}

/** The text without what is in parentheses, but for a part that locks. */
function withoutReads(text: string): string {
  const shorter = text.replaceAll(/\((?![^()]*\bfor (?:no key update|update|share)\b)[^()]*\)/gi, "");
  return shorter === text ? text : withoutReads(shorter);
}

/** The statements that lock slots and do nothing else. */
export function slotLocks(statements: readonly SentStatement[]): string[] {
  const locking = statements.map(({ text }) => text).filter((text) => / for (no key )?update\b/i.test(text));
  return locking.filter((text) => lockedTable(text) === "slots");
}

/** The dates of the counters that change, in the order of their locks. */
export function daysCounted(statements: readonly SentStatement[]): string[] {
  const changes = statements.filter(({ text }) =>
    /^(insert into|update|with "written" as \(update) "?day_counters/i.test(text),
  );
  return [...new Set(changes.map(({ values }) => values.find((value) => /^\d{4}-\d\d-\d\d/.test(`${value}`)) ?? ""))];
}
