import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { assignPositions } from "../../src/jobs/assign-positions.js";
import { purgeEvents } from "../../src/jobs/purges.js";
import { runTransaction } from "../../src/postgres/run-transaction.js";
import { goesOn } from "../../src/postgres/tables/events/event-feed.js";
import { findChangedFeeds, findOutstandingTenants } from "../../src/postgres/tables/events/event-overview.js";
import { readEndOfFeed } from "../../src/services/events/read-placed.js";
import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import {
  changed,
  commitEach,
  type FeedUnderTest,
  insertUnplaced,
  newTenant,
  PATIENT_LIMITS,
  startFeed,
} from "./feed-under-test.js";

const WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

let feed: FeedUnderTest;
let tenantId: string;
const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];

beforeAll(async () => {
  feed = await startFeed();
});

afterAll(() => feed.close());

beforeEach(() => {
  tenantId = newTenant();
});

describe("the order of the feed", () => {
  test("follows the commits between reads, not the starts of transactions", async () => {
    const slow = await feed.begin(tenantId, changed(a, 1));
    const quick = await feed.begin(tenantId, changed(b, 1));
    await quick.commit();
    expect(await read(0)).toEqual([[1, b, 1]]);
    await slow.commit();
    expect(await read(0)).toEqual([
      [1, b, 1],
      [2, a, 1],
    ]);
    expect(await read(1)).toEqual([[2, a, 1]]);
  });

  test("skips a transaction that was rolled back, without a gap", async () => {
    const open = await feed.begin(tenantId, changed(a, 1));
    await commitEach(feed, tenantId, [changed(b, 1)]);
    await open.rollback();
    await commitEach(feed, tenantId, [changed(c, 1)]);
    expect(await read(0)).toEqual([
      [1, b, 1],
      [2, c, 1],
    ]);
  });

  test("is not blocked by an open transaction of any tenant", async () => {
    const stuck = [await feed.begin(tenantId, changed(a, 1)), await feed.begin(newTenant(), changed(a, 1))];
    await commitEach(feed, tenantId, [changed(b, 1), changed(b, 2)]);
    expect(await read(0)).toEqual([
      [1, b, 1],
      [2, b, 2],
    ]);
    for (const transaction of stuck) await transaction.rollback();
  });

  test("follows the effects within a transaction", async () => {
    await commitEach(feed, tenantId, []);
    const one = await feed.begin(tenantId, changed(a, 1), changed(b, 1));
    await one.add(changed(c, 1));
    await one.commit();
    expect((await read(0)).map(([, id]) => id)).toEqual([a, b, c]);
  });

  test("follows the versions, even if the later transaction has the lower transaction id", async () => {
    await commitEach(feed, tenantId, [changed(a, 1)]);
    const later = await feed.begin(tenantId, changed(b, 1));
    const earlier = await feed.begin(tenantId, changed(a, 2));
    await earlier.commit();
    await later.add(changed(a, 3));
    await later.commit();
    const order = (await read(0)).filter(([, id]) => id === a);
    expect(order.map(([, , version]) => version)).toEqual([1, 2, 3]);
  });

  test("never changes once it was read, with concurrent readers and commits", async () => {
    const ids = Array.from({ length: 40 }, () => randomUUID());
    const open = await Promise.all(ids.map((id) => feed.begin(tenantId, changed(id, 1))));
    const seen: unknown[][] = [];
    const readers = Array.from({ length: 4 }, async () => {
      let after = 0;
      const given: unknown[] = [];
      while (after < ids.length) {
        const { events } = await feed.reader.read(tenantId, after, 10);
        after = events.at(-1)?.position ?? after;
        given.push(...events.map(({ resourceId }) => resourceId));
      }
      seen.push(given);
    });
    for (const transaction of open.toReversed()) await transaction.commit();
    await Promise.all(readers);
    const order = (await read(0, 100)).map(([, id]) => id);
    expect(order.toSorted()).toEqual(ids.toSorted());
    expect(seen).toEqual(Array.from({ length: 4 }, () => order));
  });

  test("is assigned by one reader at a time; a waiting reader sees the commits of the meantime", async () => {
    await commitEach(feed, tenantId, [changed(a, 1)]);
    expect(await read(0)).toHaveLength(1);
    const later = await feed.begin(tenantId, changed(c, 1));
    await commitEach(feed, tenantId, [changed(b, 1)]);
    const [other, watcher] = [new Client(feed.testDatabase.url), new Client(feed.testDatabase.adminUrl)];
    await Promise.all([other.connect(), watcher.connect()]);
    await other.query(`BEGIN; SET LOCAL cupo.tenant_id = '${tenantId}'; SELECT FROM event_feeds FOR NO KEY UPDATE`);
    const reading = read(1);
    await eventually(async () => (await watcher.query(WAITING)).rows.length === 1);
    await later.commit();
    await other.query("ROLLBACK");
    expect(await reading).toEqual([
      [2, c, 1],
      [3, b, 1],
    ]);
    await Promise.all([other.end(), watcher.end()]);
  });

  test("has every event once, for any number of unplaced events", async () => {
    await fill(2_345);
    const page = await feed.reader.read(tenantId, 0, 5_000);
    expect(page).toMatchObject({ lastPosition: 1_000, isOutstanding: true });
    await assignPositions(feed.database);
    const whole = await feed.reader.read(tenantId, 0, 5_000);
    expect(whole.events.map(({ position }) => position)).toEqual(Array.from({ length: 2_345 }, (_, i) => i + 1));
    expect(whole).toMatchObject({ lastPosition: 2_345, isOutstanding: false });
    expect(new Set(whole.events.map(({ eventId }) => eventId)).size).toBe(2_345);
  });
});

test("the end of the feed follows all committed events, even if they get positions in several statements", async () => {
  await fill(2_345);
  const work = { scope: { tenantId }, limits: PATIENT_LIMITS };
  const end = await runTransaction(feed.database, work, readEndOfFeed);
  expect(end).toMatchObject({ lastPosition: 2_345, isOutstanding: false, events: [] });
});

describe("a feed", () => {
  test("belongs to one tenant and has its own positions", async () => {
    const other = newTenant();
    await commitEach(feed, tenantId, [changed(a, 1)]);
    await commitEach(feed, other, [changed(b, 1)]);
    expect(await read(0)).toEqual([[1, a, 1]]);
    expect((await feed.reader.read(other, 0, 10)).events).toMatchObject([{ position: 1, resourceId: b }]);
  });

  test("cannot be continued if it was reset or the next events are purged", async () => {
    await commitEach(feed, tenantId, [changed(a, 1), changed(a, 2), changed(a, 3)]);
    const { feedId } = await feed.reader.read(tenantId, 0, 10);
    const continues = async (position: number, id = feedId) =>
      goesOn(await feed.reader.read(tenantId, position, 10), { feedId: id, position });
    expect(await Promise.all([0, 1, 2, 3].map((position) => continues(position)))).toEqual([true, true, true, true]);
    expect(await continues(4)).toBe(false);
    expect(await continues(1, randomUUID())).toBe(false);
    await execute(
      feed.testDatabase.adminUrl,
      `DELETE FROM event_positions WHERE tenant_id = '${tenantId}' AND position < 3`,
    );
    expect(await Promise.all([0, 1, 2, 3].map((position) => continues(position)))).toEqual([false, false, true, true]);
    expect(await feed.reader.findOldest(tenantId)).toBe(2);
    await execute(feed.testDatabase.adminUrl, `DELETE FROM event_positions WHERE tenant_id = '${tenantId}'`);
    expect(await Promise.all([2, 3].map((position) => continues(position)))).toEqual([false, true]);
    expect(await feed.reader.findOldest(tenantId)).toBe(3);
  });

  test("is known to have changed by its position or by unplaced events", async () => {
    const [still, ahead, behind] = [tenantId, newTenant(), newTenant()];
    for (const tenant of [still, ahead]) await commitEach(feed, tenant, [changed(a, 1)]);
    await assignPositions(feed.database);
    await commitEach(feed, behind, [changed(a, 1)]);
    const known = new Map([
      [still, 1],
      [ahead, 0],
      [behind, 0],
      [newTenant(), 0],
    ]);
    expect(await findChangedFeeds(feed.database, known)).toEqual(new Set([ahead, behind]));
    expect(await findOutstandingTenants(feed.database)).toEqual([behind]);
  });
});

describe("row-level security", () => {
  test("shows the query for changes only which feeds have changed", async () => {
    await commitEach(feed, tenantId, [changed(a, 1)]);
    await assignPositions(feed.database);
    const overview = (table: string) =>
      execute(feed.testDatabase.url, "SET cupo.event_overview = 'on'", `SELECT 1 FROM ${table}`);
    expect(await overview("event_feeds")).not.toEqual([]);
    for (const table of ["event_positions", "audit_events"]) expect(await overview(table)).toEqual([]);
    const erase = "DELETE FROM event_outbox RETURNING 1";
    await commitEach(feed, tenantId, [changed(a, 2)]);
    expect(await execute(feed.testDatabase.url, "SET cupo.event_overview = 'on'", erase)).toEqual([]);
  });
});

describe("the purge", () => {
  test("deletes events placed more than 30 days ago, of every tenant, and keeps the audit trail", async () => {
    await fill(1_500);
    await assignPositions(feed.database);
    await age("position <= 1200", "30 days 1 minute");
    await age("position > 1200", "29 days 23 hours");
    expect(await purgeEvents(feed.database)).toBe(1_200);
    expect(await purgeEvents(feed.database)).toBe(0);
    expect(await feed.reader.findOldest(tenantId)).toBe(1_200);
    expect((await feed.reader.read(tenantId, 1_200, 1_000)).events).toHaveLength(300);
    const audit = `SELECT count(*)::int AS n FROM audit_events WHERE tenant_id = '${tenantId}'`;
    expect(await execute(feed.testDatabase.adminUrl, audit)).toEqual([{ n: 1_500 }]);
  });

  test("never deletes an event without a position", async () => {
    await commitEach(feed, tenantId, [changed(a, 1)]);
    await execute(feed.testDatabase.adminUrl, "UPDATE audit_events SET occurred_at = now() - interval '40 days'");
    await purgeEvents(feed.database);
    expect(await read(0)).toEqual([[1, a, 1]]);
  });
});

async function read(after: number, limit = 10): Promise<[number, string, number | undefined][]> {
  const { events } = await feed.reader.read(tenantId, after, limit);
  return events.map(({ position, resourceId, resourceVersion }) => [position, resourceId, resourceVersion]);
}

async function fill(count: number): Promise<void> {
  await execute(feed.testDatabase.adminUrl, insertUnplaced(tenantId, count));
}

async function age(condition: string, by: string): Promise<void> {
  await execute(
    feed.testDatabase.adminUrl,
    `UPDATE event_positions SET positioned_at = now() - interval '${by}' WHERE tenant_id = '${tenantId}' AND ${condition}`,
  );
}
