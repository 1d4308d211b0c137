import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAnnouncer } from "../../src/postgres/signals/announce-changes.js";
import { Ear } from "../../src/postgres/signals/ear.js";
import { type Listener, listenForChanges } from "../../src/postgres/signals/listen-for-changes.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements } from "../support/sent-statements.js";

let database: TestDatabase;
let proxy: PostgresProxy;
let pool: Pool;
let heard: string[];
let errors: unknown[];
let listener: Listener;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await startPostgresProxy(database.url);
  pool = openPool(database.url, 2);
  heard = [];
  errors = [];
  listener = listenForChanges({
    url: proxy.url,
    pool,
    onChanged: (tenantIds) => heard.push(...tenantIds),
    onError: (error) => errors.push(error),
  });
});

afterEach(async () => {
  await listener.close();
  await pool.end();
  await proxy.close();
});

describe("what is said of changes", () => {
  test("is heard, of every tenant that is named", async () => {
    await eventually(() => listener.isHeard());
    const tenants = Array.from({ length: 450 }, () => randomUUID());
    const announcer = createAnnouncer(pool);
    for (const tenant of tenants) announcer.announce(tenant);
    await announcer.close();
    await eventually(() => heard.length >= tenants.length);
    expect(heard.toSorted()).toEqual(tenants.toSorted());
  });

  test("is said once for all that changes within a moment, and never in the transaction of somebody else", async () => {
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

  test("may be lost without harm to who says it", async () => {
    const away = openPool(database.url.replace(/:\d+\//, ":1/"), 1);
    const announcer = createAnnouncer(away);
    announcer.announce(randomUUID());
    await expect(announcer.close()).resolves.toBeUndefined();
    await away.end();
  });

  test("is known not to be heard while the connection is lost, and heard again behind it", async () => {
    await eventually(() => listener.isHeard());
    proxy.setDown(true);
    await eventually(() => !listener.isHeard());
    await eventually(() => errors.length > 0);
    proxy.setDown(false);
    await eventually(() => listener.isHeard());
    const announcer = createAnnouncer(pool);
    const tenant = randomUUID();
    announcer.announce(tenant);
    await eventually(() => heard.includes(tenant));
    await announcer.close();
    expect(errors).toHaveLength(1);
  });
});

test("who listens leaves no connection behind", async () => {
  await eventually(() => listener.isHeard());
  await listener.close();
  const ears = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'cupo-events' AND datname = current_database()";
  await eventually(async () => (await execute(database.adminUrl, ears)).length === 0);
  expect(listener.isHeard()).toBe(false);
});

test("a connection over which nothing comes any more is given up", async () => {
  const ear = new Ear(proxy.url, () => undefined);
  await ear.open();
  proxy.silence("OPEN");
  expect(await ear.hears(pool)).toBe(false);
  await ear.close();
  expect(ear.lost.aborted).toBe(true);
});

/** A pool ends before its connections do, and the database that is removed then says so to them. */
function openPool(connectionString: string, max: number): Pool {
  return new Pool({ connectionString, max }).on("error", () => undefined);
}
