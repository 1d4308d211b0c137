import { afterAll, beforeAll, expect, test } from "vitest";
import { purgeEvents } from "../../src/jobs/purges.js";
import { execute } from "../support/database.js";
import { type FeedUnderTest, insertUnplaced, newTenant, startFeed } from "./feed-under-test.js";

let feed: FeedUnderTest;

beforeAll(async () => {
  feed = await startFeed();
});

afterAll(() => feed.close());

test("events are purged 30 days after they came into the feed, which then begins after them", async () => {
  const tenantId = newTenant();
  await execute(feed.testDatabase.adminUrl, insertUnplaced(tenantId, 3));
  const { reader, database } = feed;
  expect((await reader.read(tenantId, 0, 10)).events).toHaveLength(3);
  await age(tenantId, 1, "30 days 1 hour");
  await age(tenantId, 2, "29 days 23 hours");
  expect(await purgeEvents(database)).toBe(1);
  expect(await reader.findOldest(tenantId)).toBe(1);
  expect((await reader.read(tenantId, 1, 10)).events.map(({ position }) => position)).toEqual([2, 3]);
});

async function age(tenantId: string, position: number, interval: string): Promise<void> {
  const row = `tenant_id = '${tenantId}' AND position = ${position}`;
  const change = `UPDATE event_positions SET positioned_at = now() - interval '${interval}' WHERE ${row}`;
  await execute(feed.testDatabase.adminUrl, change);
}
