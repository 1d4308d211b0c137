import { createHash, randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { QuotaPrincipal, RateLimiter } from "../../src/interceptors/rate-limit.js";
import { purgeQuotas } from "../../src/jobs/purges.js";
import { openDatabase } from "../../src/postgres/database.js";
import { openQuotaStore } from "../../src/postgres/quota-windows.js";
import { quotaPolicies } from "../../src/quotas/quota-policies.js";
import { createRateLimiter } from "../../src/quotas/rate-limiter.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

const REPLICAS = 3;
const QUOTAS = { perSecond: 1_000_000, perMinute: 60 };
const { minute } = quotaPolicies(QUOTAS);

let database: TestDatabase;
let proxy: PostgresProxy;
let principal: QuotaPrincipal;
let said: string[];

beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  principal = { tenantId: randomUUID(), id: "https://id.example.org portal-of-ana" };
  said = [];
});

afterEach(async () => {
  await proxy.close();
  await database.drop();
});

describe("three processes on one database", () => {
  test("let the quota of a minute through once in total, with requests in turn or concurrent", async () => {
    const replicas = [openLimiter(), openLimiter(), openLimiter()];
    const answers = await Promise.all(Array.from({ length: 180 }, (_, i) => isPassed(replicas[i % REPLICAS])));
    expect(answers.filter(Boolean)).toHaveLength(60);
    expect(await Promise.all(replicas.map(isPassed))).toEqual([false, false, false]);
  });

  test("let a third through each while the database is unreachable, and share again when it is back", async () => {
    let elapsedMs = 0;
    const replicas = Array.from({ length: REPLICAS }, () => openLimiter(() => elapsedMs));
    proxy.setDown(true);
    expect(await countPassed(replicas, 180)).toBe(60);
    expect(said).toEqual(["away", "away", "away"]);
    proxy.setDown(false);
    elapsedMs += 60_000;
    expect(await countPassed(replicas, 180)).toBe(60);
    expect(said.slice(REPLICAS)).toEqual(["back", "back", "back"]);
    expect(await rows("taken")).not.toEqual([]);
  });
});

describe("a window", () => {
  test("grants what is requested, then what is left, then nothing", async () => {
    const store = openStore();
    const take = async (wanted: number) => (await store.take(principal, [{ policy: minute, wanted }]))[0];
    expect(await take(40)).toMatchObject({ granted: 40, left: 20 });
    expect(await take(30)).toMatchObject({ granted: 20, left: 0 });
    expect(await take(1)).toMatchObject({ granted: 0, left: 0 });
  });

  test("ends a minute after it began, and a new one begins with the next request", async () => {
    const store = openStore();
    const take = async () => (await store.take(principal, [{ policy: minute, wanted: 60 }]))[0];
    expect((await take())?.endsInMs).toBe(60_000);
    await execute(database.adminUrl, "UPDATE quota_windows SET ends_at = now() + interval '30 s'");
    expect(await take()).toMatchObject({ granted: 0, left: 0 });
    await execute(database.adminUrl, "UPDATE quota_windows SET ends_at = now()");
    expect(await take()).toEqual({ granted: 60, left: 0, endsInMs: 60_000 });
  });

  test("belongs to one tenant and principal, and does not store the principal", async () => {
    const store = openStore();
    const other = { ...principal, tenantId: randomUUID() };
    for (const who of [principal, other]) {
      expect(await store.take(who, [{ policy: minute, wanted: 60 }])).toMatchObject([{ granted: 60 }]);
    }
    const hash = createHash("sha256").update(principal.id).digest();
    expect(await rows("tenant_id, principal")).toEqual(
      expect.arrayContaining([principal, other].map(({ tenantId }) => ({ tenant_id: tenantId, principal: hash }))),
    );
    expect(JSON.stringify(await rows("quota_windows::text"))).not.toContain("ana");
  });

  test("is deleted by the purge an hour after it ended, and not before", async () => {
    const store = openStore();
    await store.take(principal, [{ policy: minute, wanted: 1 }]);
    const purger = openDatabase({ ...LIMITS, url: database.url });
    onTestFinished(() => purger.close());
    await execute(database.adminUrl, "UPDATE quota_windows SET ends_at = now() - interval '59 minutes'");
    expect(await purgeQuotas(purger)).toBe(0);
    await execute(database.adminUrl, "UPDATE quota_windows SET ends_at = now() - interval '61 minutes'");
    expect(await execute(database.url, "DELETE FROM quota_windows RETURNING policy")).toEqual([]);
    expect(await purgeQuotas(purger)).toBe(1);
    expect(await rows("policy")).toEqual([]);
  });
});

const LIMITS = { maxConnections: 1, acquireTimeoutMs: 10_000, queryTimeoutMs: 10_000, onIdleError: () => undefined };

function openStore() {
  const store = openQuotaStore({ url: proxy.url, withinMs: 30_000, onIdleError: () => undefined });
  onTestFinished(() => store.close());
  return store;
}

function openLimiter(elapsed?: () => number): RateLimiter {
  return createRateLimiter(QUOTAS, {
    store: openStore(),
    replicas: REPLICAS,
    onAway: () => said.push("away"),
    onBack: () => said.push("back"),
    ...(elapsed === undefined ? {} : { elapsed }),
  });
}

async function isPassed(limiter: RateLimiter | undefined): Promise<boolean> {
  return (await limiter?.count(principal))?.every(({ exceeded }) => !exceeded) === true;
}

async function countPassed(replicas: readonly RateLimiter[], requests: number): Promise<number> {
  let count = 0;
  for (let index = 0; index < requests; index++) if (await isPassed(replicas[index % replicas.length])) count += 1;
  return count;
}

function rows(columns: string): Promise<Record<string, unknown>[]> {
  return execute(database.adminUrl, `SELECT ${columns} FROM quota_windows`);
}
