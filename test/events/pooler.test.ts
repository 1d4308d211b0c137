import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listenForChanges } from "../../src/postgres/signals/listen-for-changes.js";
import { eventually } from "../support/eventually.js";
import { isPgbouncerThere, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { changed, commitEach, type FeedUnderTest, newTenant, startFeed } from "./feed-under-test.js";
import { type FeedProcess, openFeedProcess } from "./watchers.js";

const reason = isPgbouncerThere ? "" : " (PgBouncer is not installed: Debian's package pgbouncer)";

describe.skipIf(!isPgbouncerThere)(`behind PgBouncer in transaction mode${reason}`, () => {
  let feed: FeedUnderTest;
  let pooler: Pgbouncer;
  let own: FeedProcess;
  let other: FeedProcess;

  beforeAll(async () => {
    feed = await startFeed();
    pooler = await startPgbouncer([feed.testDatabase.url]);
  });

  afterAll(async () => {
    await pooler.stop();
    await feed.close();
  });

  beforeEach(() => {
    own = openFeedProcess(pooler.urlOf(feed.testDatabase.url));
    other = openFeedProcess(pooler.urlOf(feed.testDatabase.url));
  });

  afterEach(async () => {
    await own.close();
    await other.close();
  });

  test("a watch returns what other processes commit, with nothing missing and nothing twice", async () => {
    const tenantId = newTenant();
    const watcher = own.watch(tenantId);
    await watcher.begun();
    const ids = Array.from({ length: 20 }, () => randomUUID());
    for (const id of ids) {
      await commitEach(feed, tenantId, [changed(id, 1)]);
      other.feeds.committed(tenantId);
    }
    await watcher.has(ids.length);
    expect(watcher.ids()).toEqual(ids);
    await watcher.stop();
  });

  test("a listener that cannot receive notifications reports it", async () => {
    const notified: string[] = [];
    const through = listenForChanges({
      url: pooler.urlOf(feed.testDatabase.url),
      pool: own.database.pool,
      onChanged: (tenantIds) => notified.push(...tenantIds),
      onError: () => undefined,
    });
    const direct = listenForChanges({
      url: feed.testDatabase.url,
      pool: own.database.pool,
      onChanged: (tenantIds) => notified.push(...tenantIds),
      onError: () => undefined,
    });
    await eventually(() => direct.isReceiving());
    const tenantId = newTenant();
    other.feeds.committed(tenantId);
    await eventually(() => notified.includes(tenantId));
    expect(through.isReceiving()).toBe(false);
    await Promise.all([through.close(), direct.close()]);
  });
});
