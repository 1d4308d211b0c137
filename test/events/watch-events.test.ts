import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Event_ResourceType, Event_Start } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { parseCursor } from "../../src/services/events/event-cursor.js";
import { execute } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements } from "../support/sent-statements.js";
import { changed, commitEach, type FeedUnderTest, newTenant, startFeed } from "./feed-under-test.js";
import { type FeedProcess, openFeedProcess } from "./watchers.js";

const MANY = 1_000;
const LOOK = /UNION ALL SELECT DISTINCT tenant_id/;

let feed: FeedUnderTest;
let proxy: PostgresProxy;
let taken: ReturnType<typeof recordStatements>;
let own: FeedProcess;
/** Another process, which commits and notifies. */
let other: FeedProcess;
let tenantId: string;

beforeAll(async () => {
  feed = await startFeed();
});

afterAll(() => feed.close());

beforeEach(async () => {
  tenantId = newTenant();
  proxy = await startPostgresProxy(feed.testDatabase.url);
  taken = recordStatements(proxy);
  own = openFeedProcess(proxy.url);
  other = openFeedProcess(feed.testDatabase.url);
});

afterEach(async () => {
  await own.close();
  await other.close();
  await proxy.close();
  await eventually(async () => (await listeners()).length === 0);
});

describe("a watch", () => {
  test("first returns its cursor, then the events that are committed, in order", async () => {
    await change(3);
    const watcher = own.watch(tenantId);
    await watcher.begun();
    expect(watcher.responses).toMatchObject([{ events: [] }]);
    const ids = await change(5);
    await watcher.has(5);
    expect(watcher.ids()).toEqual(ids);
    expect(await watcher.stop()).toBeUndefined();
  });

  test("continues from a cursor with nothing missing and nothing twice, while others commit", async () => {
    const before = await fill(700);
    const first = own.watch(tenantId, { request: { start: Event_Start.OLDEST } });
    await first.has(700);
    await first.stop();
    const cursor = first.responses.find(({ events }) => events.length > 0)?.cursor ?? "";
    const seen = first.responses.findIndex((response) => response.cursor === cursor);
    const had = first.responses.slice(0, seen + 1).flatMap(({ events }) => events).length;
    const writing = (async () => [
      ...(await fill(400)),
      ...(await change(30)),
      ...(await fill(600)),
      ...(await change(30)),
    ])();
    const second = own.watch(tenantId, { request: { cursor } });
    const after = await writing;
    await second.has(before.length - had + after.length);
    expect([...first.ids().slice(0, had), ...second.ids()]).toEqual([...before, ...after]);
    await second.stop();
  });

  test("can be continued from the cursor of each of its responses", async () => {
    await fill(450);
    const watcher = own.watch(tenantId, { request: { start: Event_Start.OLDEST } });
    await watcher.has(450);
    const all = watcher.ids();
    let had = 0;
    for (const { events, cursor } of watcher.responses) {
      had += events.length;
      expect(events.length).toBeLessThanOrEqual(200);
      const next = own.watch(tenantId, { request: { cursor } });
      await next.has(450 - had);
      await next.begun();
      expect(next.ids()).toEqual(all.slice(had));
      await next.stop();
    }
    await watcher.stop();
  });

  test("returns only the requested types, and its cursor advances past the others", async () => {
    const request = { start: Event_Start.OLDEST, resourceTypes: [Event_ResourceType.PAYER] };
    const watcher = own.watch(tenantId, { request, heartbeatMs: 20 });
    await watcher.begun();
    await change(4);
    await eventually(() => parseCursor(watcher.cursor())?.position === 4);
    const again = own.watch(tenantId, { request: { cursor: watcher.cursor() } });
    const [last] = await change(1);
    await again.has(1);
    expect(again.ids()).toEqual([last]);
    expect(watcher.ids()).toEqual([]);
    await Promise.all([watcher.stop(), again.stop()]);
  });

  test("sends a heartbeat if nothing happens", async () => {
    const watcher = own.watch(tenantId, { heartbeatMs: 20 });
    await eventually(() => watcher.responses.length > 3);
    expect(watcher.ids()).toEqual([]);
    expect(new Set(watcher.responses.map(({ cursor }) => cursor)).size).toBe(1);
    await watcher.stop();
  });

  test("of a paused client reads missed events from the database, and buffers at most 1,000", async () => {
    const slow = own.watch(tenantId);
    const quick = own.watch(tenantId);
    await Promise.all([slow.begun(), quick.begun()]);
    const goOn = slow.pause();
    const ids = [...(await change(1)), ...(await fill(2_500)), ...(await change(3))];
    await quick.has(ids.length);
    expect(slow.ids().length).toBeLessThan(1_000);
    goOn();
    await slow.has(ids.length);
    expect(slow.ids()).toEqual(ids);
    expect(quick.ids()).toEqual(ids);
    await Promise.all([slow.stop(), quick.stop()]);
    await eventually(async () => (await listeners()).length === 0);
  });

  test("is rejected if its cursor is invalid, of another feed, or older than the purged events", async () => {
    const refusal = async (cursor: string) => own.watch(tenantId, { request: { cursor } }).ended;
    expect(await refusal("none")).toMatchObject({ code: "VALIDATION_FAILED", errors: [{ code: "INVALID_VALUE" }] });
    const stranger = own.watch(newTenant());
    await stranger.begun();
    const gone = { code: "CONCURRENT_MODIFICATION", errors: [{ code: "OUT_OF_RANGE", field: "cursor" }] };
    expect(await refusal(stranger.cursor())).toMatchObject(gone);
    await stranger.stop();
    const watcher = own.watch(tenantId);
    await watcher.begun();
    await watcher.stop();
    await change(2);
    await placed();
    await execute(feed.testDatabase.adminUrl, `DELETE FROM event_positions WHERE tenant_id = '${tenantId}'`);
    expect(await refusal(watcher.cursor())).toMatchObject(gone);
  });

  test("ends with an error if the feed is reset", async () => {
    const watcher = own.watch(tenantId);
    await watcher.begun();
    await execute(
      feed.testDatabase.adminUrl,
      `UPDATE event_feeds SET feed_id = gen_random_uuid() WHERE tenant_id = '${tenantId}'`,
    );
    await change(1);
    expect(await watcher.ended).toMatchObject({ errors: [{ code: "OUT_OF_RANGE", field: "cursor" }] });
  });
});

describe("notifications of changes", () => {
  test("arrive from other processes, and directly from the same process", async () => {
    const watcher = own.watch(tenantId);
    await watcher.begun();
    await listening();
    const ids = [...(await change(1, other)), ...(await change(1, own))];
    await watcher.has(2);
    expect(watcher.ids()).toEqual(ids);
    await watcher.stop();
  });

  test("may be lost: events of a process that died before notifying arrive nevertheless", async () => {
    const watcher = own.watch(tenantId);
    await watcher.begun();
    await listening();
    const ids = await change(2, "nobody");
    await watcher.has(2);
    expect(watcher.ids()).toEqual(ids);
    await watcher.stop();
  });

  test("are received on one connection while there are watches; a lost connection is replaced", async () => {
    const [first, second] = [own.watch(tenantId), own.watch(newTenant())];
    await Promise.all([first.begun(), second.begun()]);
    await listening();
    expect(await listeners()).toHaveLength(1);
    const [listener] = await listeners();
    await execute(feed.testDatabase.adminUrl, `SELECT pg_terminate_backend(${String(listener?.["pid"])})`);
    await eventually(async () => (await listeners()).some(({ pid }) => pid !== listener?.["pid"]));
    const ids = await change(3, other);
    await first.has(3);
    expect(first.ids()).toEqual(ids);
    await Promise.all([first.stop(), second.stop()]);
    await eventually(async () => (await listeners()).length === 0);
    const third = own.watch(tenantId);
    await third.begun();
    await listening();
    await third.stop();
  });

  test("are replaced by polling every 100 ms if they cannot arrive, with one statement for all tenants", async () => {
    const withoutListener = openFeedProcess(`${proxy.url}?prepared_statements=false`);
    const tenants = Array.from({ length: 5 }, () => newTenant());
    const watchers = tenants.map((tenant) => withoutListener.watch(tenant));
    for (const watcher of watchers) await watcher.begun();
    expect(await listeners()).toEqual([]);
    let looked = 0;
    await eventually(() => {
      looked += looks();
      return looked >= 3;
    });
    for (const [index, tenant] of tenants.entries()) {
      await commitEach(feed, tenant, [changed(randomUUID(), 1)]);
      await watchers[index]?.has(1);
    }
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await withoutListener.close();
  });

  test("are neither received nor polled after the last watch has ended", async () => {
    const watcher = own.watch(tenantId);
    await watcher.begun();
    await listening();
    readings();
    await watcher.stop();
    expect(readings()).toBe(0);
    await eventually(async () => (await listeners()).length === 0);
    const { pool } = own.database;
    await eventually(() => pool.waitingCount === 0 && pool.idleCount === pool.totalCount);
    taken();
    await change(1, "nobody");
    const witness = other.watch(tenantId, { request: { start: Event_Start.OLDEST } });
    await witness.has(1);
    expect(taken().filter(({ text }) => text !== "UNLISTEN *")).toEqual([]);
    await witness.stop();
  });
});

describe(`${MANY} watchers`, () => {
  test("of a tenant share the read of an event", async () => {
    const watchers = Array.from({ length: MANY }, () => own.watch(tenantId));
    for (const watcher of watchers) await watcher.begun();
    await listening();
    taken();
    const ids = await change(1, other);
    for (const watcher of watchers) await watcher.has(1);
    const reads = taken().filter(({ text }) => /event_positions/.test(text));
    expect(watchers.map((watcher) => watcher.ids())).toEqual(watchers.map(() => ids));
    expect(reads.length).toBeLessThanOrEqual(10);
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  });

  test("with the same cursor share their reads", async () => {
    const before = own.watch(tenantId);
    await before.begun();
    const cursor = before.cursor();
    await before.stop();
    const ids = await fill(300);
    await placed();
    taken();
    const watchers = Array.from({ length: MANY }, () => own.watch(tenantId, { request: { cursor } }));
    for (const watcher of watchers) await watcher.has(300);
    const reads = taken().filter(({ text }) => /event_positions/.test(text));
    expect(new Set(watchers.map((watcher) => watcher.ids().join()))).toEqual(new Set([ids.join()]));
    expect(reads.length).toBeLessThanOrEqual(20);
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  });
});

describe("an unreachable database", () => {
  test("ends no running watch, which continues when it is back", async () => {
    const watcher = own.watch(tenantId);
    await watcher.begun();
    proxy.setDown(true);
    const ids = await change(2, other);
    await eventually(() => own.errors.length > 0);
    proxy.setDown(false);
    await watcher.has(2);
    expect(watcher.ids()).toEqual(ids);
    await watcher.stop();
  });

  test("answers SERVICE_UNAVAILABLE to a new watch", async () => {
    proxy.setDown(true);
    expect(await own.watch(tenantId).ended).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});

/**
 * Commits changes, each in its own transaction, and lets a process notify, by default the other one. Returns the ids of
 * the changed resources.
 */
async function change(count: number, by?: FeedProcess | "nobody"): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) {
    await commitEach(feed, tenantId, [changed(id, 1)]);
    if (by !== "nobody") (by ?? other).feeds.committed(tenantId);
  }
  return ids;
}

/** Commits many changes in one transaction. Returns the ids of the changed resources in the order of the feed. */
async function fill(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const transaction = await feed.begin(tenantId);
  for (const id of ids) await transaction.add(changed(id, 1));
  await transaction.commit();
  other.feeds.committed(tenantId);
  return ids;
}

async function placed(): Promise<void> {
  await feed.reader.read(tenantId, 0, 1);
}

/** Returns the listening connections. The server may list one briefly after the process has closed it. */
function listeners(): Promise<Record<string, unknown>[]> {
  return execute(
    feed.testDatabase.adminUrl,
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'cupo-events' AND datname = current_database()",
  );
}

/** Resolves when the process listens. */
function listening(): Promise<void> {
  return eventually(async () => (await listeners()).length === 1);
}

/** Returns the number of feed reads since the last call. */
function readings(): number {
  return taken().filter(({ text }) => text.includes("event_positions") && !LOOK.test(text)).length;
}

function looks(): number {
  return taken().filter(({ text }) => LOOK.test(text)).length;
}
