import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAnnouncer } from "../../src/postgres/signals/announce-changes.js";
import { type Listener, listenForChanges } from "../../src/postgres/signals/listen-for-changes.js";
import { NotificationListener } from "../../src/postgres/signals/notification-listener.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements } from "../support/sent-statements.js";

let database: TestDatabase;
let proxy: PostgresProxy;
let pool: Pool;
let notified: string[];
let errors: unknown[];
let listener: Listener;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await startPostgresProxy(database.url);
  pool = openPool(database.url, 2);
  notified = [];
  errors = [];
  listener = listenForChanges({
    url: proxy.url,
    pool,
    onChanged: (tenantIds) => notified.push(...tenantIds),
    onError: (error) => errors.push(error),
  });
});

afterEach(async () => {
  await listener.close();
  await pool.end();
  await proxy.close();
});

describe("a change notification", () => {
  test("arrives for each tenant", async () => {
    await eventually(() => listener.isReceiving());
    const tenants = Array.from({ length: 450 }, () => randomUUID());
    const announcer = createAnnouncer(pool);
    for (const tenant of tenants) announcer.announce(tenant);
    await announcer.close();
    await eventually(() => notified.length >= tenants.length);
    expect(notified.toSorted()).toEqual(tenants.toSorted());
  });

  test("is sent once for all changes within a moment, outside the transactions of calls", async () => {
    const spoken = await startPostgresProxy(database.url);
    const sent = recordStatements(spoken);
    const speaking = openPool(spoken.url, 1);
    const announcer = createAnnouncer(speaking);
    const [first, ...others] = Array.from({ length: 30 }, () => randomUUID());
    announcer.announce(`${first}`);
    for (const tenant of [...others, ...others]) announcer.announce(tenant);
    await announcer.close();
    const said = sent().map(({ text, values }) => [text.includes("pg_notify"), values[1]?.split(",").length]);
    expect(said.slice(0, 2)).toEqual([
      [true, 1],
      [true, 29],
    ]);
    expect(said).toHaveLength(2);
    await speaking.end();
    await spoken.close();
  });

  test("can be lost without an error for its sender", async () => {
    const away = openPool(database.url.replace(/:\d+\//, ":1/"), 1);
    const announcer = createAnnouncer(away);
    announcer.announce(randomUUID());
    await expect(announcer.close()).resolves.toBeUndefined();
    await away.end();
  });

  test("is known not to arrive while the connection is lost, and arrives again afterwards", async () => {
    await eventually(() => listener.isReceiving());
    proxy.setDown(true);
    await eventually(() => !listener.isReceiving());
    await eventually(() => errors.length > 0);
    proxy.setDown(false);
    await eventually(() => listener.isReceiving());
    const announcer = createAnnouncer(pool);
    const tenant = randomUUID();
    announcer.announce(tenant);
    await eventually(() => notified.includes(tenant));
    await announcer.close();
    expect(errors).toHaveLength(1);
  });
});

test("closing the listener closes its connection", async () => {
  await eventually(() => listener.isReceiving());
  await listener.close();
  const listening =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'cupo-events' AND datname = current_database()";
  await eventually(async () => (await execute(database.adminUrl, listening)).length === 0);
  expect(listener.isReceiving()).toBe(false);
});

test("a connection on which nothing arrives any more is given up", async () => {
  const connection = new NotificationListener(proxy.url, () => undefined);
  await connection.open();
  proxy.silence("OPEN");
  expect(await connection.receives(pool)).toBe(false);
  await connection.close();
  expect(connection.lost.aborted).toBe(true);
});

/** Ignores errors: a pool closes before its connections do, and dropping the database then ends them with an error. */
function openPool(connectionString: string, max: number): Pool {
  return new Pool({ connectionString, max }).on("error", () => undefined);
}
