import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import type { Database } from "../../src/postgres/database.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import type { DayOfRule } from "../../src/postgres/tables/appointments/day-counters.js";
import {
  exchangeCapacities,
  exchangeCapacity,
  exchangeLockedCapacity,
  isSameDay,
  lockCapacities,
} from "../../src/postgres/tables/capacities.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
const tenantId = randomUUID();
const NOW_MS = Date.parse("2030-01-01T00:00:00Z");
const [UNTIL, OTHER] = [new Date("2030-01-01T00:05:00Z"), new Date("2030-01-01T00:06:00Z")];
const FULL = "the day is full";

/** Days of rules with a capacity of two appointments; the third rule has a larger one. Each day has one appointment. */
const [early, day, late, ofOther] = [
  { ruleId: numbered(1), localDate: "2040-01-01" },
  { ruleId: numbered(1), localDate: "2040-01-02" },
  { ruleId: numbered(1), localDate: "2040-01-03" },
  { ruleId: numbered(2), localDate: "2040-01-02" },
] as const;

let created: TestDatabase;
let database: Database;

beforeAll(async () => {
  created = await createTestDatabase();
  database = openServiceDatabase(created.ownerUrl);
  await inTransaction(async (transaction) => {
    for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 }))
      await transaction.rows(sql.raw(statement));
    const capacity = `CASE WHEN id = '${numbered(3)}' THEN 5 ELSE 2 END`;
    await transaction.rows(sql.raw(`UPDATE program_rules SET daily_capacity = ${capacity}`));
  });
});

beforeEach(() =>
  inTransaction(async (transaction) => {
    await transaction.rows(sql("day_counters").where({ tenant_id: tenantId }).delete());
    for (const each of [early, day, late, ofOther]) await transaction.rows(counter(each, 1));
  }),
);

afterAll(async () => {
  await database.close();
  await created.drop();
});

describe("an appointment that takes a unit", () => {
  test.each([
    ["and has none", undefined, [1, 2, 1, 1]],
    ["of the day that it has a unit of", day, [1, 1, 1, 1]],
    ["and has one of an earlier day", early, [0, 2, 1, 1]],
    ["and has one of a later day", late, [1, 2, 0, 1]],
    ["and has one of another rule", ofOther, [1, 2, 1, 0]],
  ])("%s, exchanges the two and changes no other day", async (_, old, booked) => {
    await exchange(old);
    expect(await counters()).toEqual(booked.map((count) => [count, 0]));
  });

  test.each([
    ["and has none", undefined, [1, 2, 1, 1]],
    ["of the day that it has a unit of", day, [1, 1, 1, 1]],
    ["and has one of another day", late, [1, 2, 0, 1]],
  ])("%s, uses the unit of its hold, although the day is full", async (_, old, booked) => {
    await hold([UNTIL]);
    await exchange(old, UNTIL);
    expect(await counters()).toEqual(booked.map((count) => [count, 0]));
  });

  test("takes a free unit if its hold is no longer counted, and fails if the day is full", async () => {
    await exchange(undefined, UNTIL);
    expect(await counters()).toEqual([1, 2, 1, 1].map((count) => [count, 0]));
    await expect(exchange(undefined, UNTIL)).rejects.toThrow(FULL);
    await expect(exchange(undefined)).rejects.toThrow(FULL);
  });

  test("fails if a hold of someone else has the last unit", async () => {
    await hold([OTHER]);
    await expect(exchange(late)).rejects.toThrow(FULL);
    expect(await counters()).toEqual([1, 1, 1, 1].map((count, n) => [count, n === 1 ? 1 : 0]));
  });
});

describe("a unit of a locked day", () => {
  const locked = (old: DayOfRule | undefined) =>
    inTransaction((transaction) => {
      lockCapacities(transaction, [day, ...(old === undefined ? [] : [old])]);
      return exchangeLockedCapacity(transaction, day, old, NOW_MS);
    });

  test("is exchanged for the unit of another day, kept on the same day, and refused on a full day", async () => {
    expect(await locked(day)).toBe(true);
    expect(await counters()).toEqual([1, 1, 1, 1].map((count) => [count, 0]));
    expect(await locked(early)).toBe(true);
    expect(await counters()).toEqual([0, 2, 1, 1].map((count) => [count, 0]));
    expect([await locked(late), await locked(undefined), await locked(day)]).toEqual([false, false, true]);
    expect(await counters()).toEqual([0, 2, 1, 1].map((count) => [count, 0]));
  });

  test("is taken for an appointment without another unit, also on a day that was not counted before", async () => {
    expect(await locked(undefined)).toBe(true);
    const next = { ruleId: numbered(1), localDate: "2040-01-04" };
    const taken = await inTransaction((transaction) => {
      lockCapacities(transaction, [next]);
      return exchangeLockedCapacity(transaction, next, undefined, NOW_MS);
    });
    expect([taken, await counters()]).toEqual([true, [1, 2, 1, 1, 1].map((count) => [count, 0])]);
  });
});

test("days are locked in order, also those that were not counted before", async () => {
  const [next, last] = [
    { ruleId: numbered(1), localDate: "2040-01-04" },
    { ruleId: numbered(1), localDate: "2040-01-05" },
  ];
  const others = await inTransaction(async (transaction) => {
    await transaction.rows(counter(last, 0));
    const locking = inTransaction(async (other) => lockCapacities(other, [late, next, last]));
    await areWaiting(1);
    const moving = inTransaction(async (other) =>
      exchangeCapacity(other, next, late, { nowMs: NOW_MS }, () => new Error(FULL)),
    );
    await areWaiting(2);
    return [locking, moving];
  });
  await Promise.all(others);
  expect(await counters()).toEqual([1, 1, 0, 1, 0, 1].map((count) => [count, 0]));
});

test("several exchanges free their units first, then take them in order while some are left", async () => {
  const exchanges = [
    { wanted: day, old: early },
    { wanted: day, old: day },
    { wanted: day, old: undefined },
    { wanted: undefined, old: late },
    { wanted: early, old: undefined },
  ];
  const run = (transaction: Transaction) => exchangeCapacities(transaction, exchanges, NOW_MS);
  expect(await inTransaction(run)).toEqual([true, true, false, true, true]);
  expect(await counters()).toEqual([1, 2, 0, 1].map((count) => [count, 0]));
});

test("several exchanges without days change nothing", async () => {
  const nothing = [{ wanted: undefined, old: undefined }];
  expect(await inTransaction((transaction) => exchangeCapacities(transaction, nothing, NOW_MS))).toEqual([true]);
  expect(await counters()).toEqual([1, 1, 1, 1].map((count) => [count, 0]));
});

test("two days are the same if rule and date are, and an absent day is the same as none", () => {
  expect(isSameDay(day, { ...day })).toBe(true);
  for (const [one, other] of [
    [day, late],
    [day, ofOther],
    [day, undefined],
    [undefined, day],
    [undefined, undefined],
  ])
    expect(isSameDay(one, other)).toBe(false);
});

function exchange(old: DayOfRule | undefined, heldUntil?: Date): Promise<void> {
  return inTransaction(async (transaction) =>
    exchangeCapacity(transaction, day, old, { nowMs: NOW_MS, heldUntil }, () => new Error(FULL)),
  );
}

function hold(ends: readonly Date[]): Promise<unknown> {
  const held = sql.raw("?::timestamptz[]", [[...ends]]);
  const { ruleId: rule_id, localDate: local_date } = day;
  return inTransaction((transaction) =>
    transaction.rows(sql("day_counters").where({ rule_id, local_date }).update({ held })),
  );
}

/** Returns the appointments and the holds of each counted day, ordered by rule and date. */
async function counters(): Promise<[number, number][]> {
  const query = "SELECT booked, cardinality(held) AS held FROM day_counters ORDER BY rule_id, local_date";
  const rows = await inTransaction((transaction) => transaction.rows<{ booked: number; held: number }>(sql.raw(query)));
  return rows.map(({ booked, held }) => [booked, held]);
}

/** Waits until so many connections wait for a lock. */
function areWaiting(count: number): Promise<void> {
  const query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return eventually(async () => (await execute(created.adminUrl, query)).length === count);
}

function counter({ ruleId: rule_id, localDate: local_date }: DayOfRule, booked: number) {
  return sql("day_counters").insert({ tenant_id: tenantId, rule_id, local_date, booked });
}

function inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return runAsTenant(database, tenantId, LIMITS, work);
}
