import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { PoolClient } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { PipelinedTransaction } from "../../src/postgres/pipelined-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import { classifyFailure } from "../../src/postgres/sql-errors.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { within } from "../support/within.js";

const LIMITS = { statementTimeoutMs: 5_000, lockTimeoutMs: 200, idleTimeoutMs: 5_000 };
const QUERY_TIMEOUT_MS = 1_000;

let testDatabase: TestDatabase;
let proxy: PostgresProxy;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startPostgresProxy(testDatabase.url);
});

afterAll(async () => {
  await proxy.close();
  await testDatabase.drop();
});

describe.each(["", "?prepared_statements=false"])("a transaction over a connection%s", (parameters) => {
  let database: Database;
  let client: PoolClient;

  beforeEach(async () => {
    database = openDatabase({
      url: `${proxy.url}${parameters}`,
      maxConnections: 1,
      acquireTimeoutMs: 30_000,
      queryTimeoutMs: 10_000,
      onIdleError: () => undefined,
    });
    client = await database.acquire();
  });

  afterEach(async () => {
    client.release(true);
    await database.close();
  });

  const begin = () => beginOn(client, database.namedStatements);
  const value = (n: number) => sql.raw("SELECT ?::int AS n", [n]);
  const failing = (n: number) => sql.raw("SELECT 1 / ?::int AS n", [n]);

  test("returns the rows of each statement of a batch, with their types", async () => {
    const transaction = begin();
    const answers = Promise.all([
      transaction.rows(value(1)),
      transaction.rows(sql.raw("SELECT generate_series(1, 3) AS n, '2026-01-31'::date AS date")),
      transaction.rows(sql.raw("SET LOCAL work_mem = '1MB'")),
      transaction.rows(value(2)),
    ]);
    await transaction.commit();
    const date = "2026-01-31";
    expect(await answers).toEqual([
      [{ n: 1 }],
      [
        { n: 1, date },
        { n: 2, date },
        { n: 3, date },
      ],
      [],
      [{ n: 2 }],
    ]);
  });

  test("returns typed rows again when a statement is repeated, also one without rows", async () => {
    const repeated = () => sql.raw("SELECT ?::int AS n, '2026-01-31'::date AS date", [1]);
    const row = { n: 1, date: "2026-01-31" };
    for (let turn = 0; turn < 3; turn += 1) {
      const transaction = begin();
      const answers = Promise.all([
        transaction.rows(repeated()),
        transaction.rows(sql.raw("SET LOCAL work_mem = '1MB'")),
        transaction.rows(repeated()),
      ]);
      await transaction.commit();
      expect(await answers).toEqual([[row], [], [row]]);
    }
  });

  test("sends all statements of one turn at once, and those after an answer at once again", async () => {
    const before = proxy.roundTrips();
    const transaction = begin();
    await Promise.all([transaction.rows(value(1)), transaction.rows(value(2))]);
    transaction.send(value(3));
    await transaction.commit();
    expect(proxy.roundTrips() - before).toBe(2);
  });

  test("fails the failed statement with its own error, and later ones as aborted", async () => {
    const transaction = begin();
    const [before, failed, behind, commit] = await Promise.allSettled([
      transaction.rows(value(1)),
      transaction.rows(failing(0)),
      transaction.rows(sql.raw("SELECT ?::text AS behind", ["x"])),
      transaction.commit(),
    ]);
    expect(before).toMatchObject({ status: "fulfilled", value: [{ n: 1 }] });
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "22012" } });
    expect(behind).toMatchObject({ status: "rejected", reason: { code: "25P02" } });
    expect(commit).toMatchObject({ status: "rejected" });
    expect(transaction.failure).toMatchObject({ code: "22012" });
    await transaction.rollback();
    expect(client.getTransactionStatus()).toBe("I");
  });

  test("leaves a usable connection after a failure, also for statements that failed or were skipped", async () => {
    const aborted = begin();
    const passedOver = () => sql.raw("SELECT ?::text AS behind", ["x"]);
    await Promise.allSettled([aborted.rows(failing(0)), aborted.rows(passedOver())]);
    const next = aborted.restart();
    const answers = Promise.all([next.rows(failing(1)), next.rows(passedOver()), next.rows(failing(-1))]);
    await next.commit();
    expect(await answers).toEqual([[{ n: 1 }], [{ behind: "x" }], [{ n: -1 }]]);
  });

  test("needs one round trip to roll back a transaction and begin another", async () => {
    const aborted = begin();
    await Promise.allSettled([aborted.rows(failing(0))]);
    const before = proxy.roundTrips();
    const next = aborted.restart();
    await Promise.all([next.rows(value(1)), next.commit()]);
    expect(proxy.roundTrips() - before).toBe(1);
  });

  test("fails all pending statements if the connection breaks", async () => {
    const transaction = begin();
    await transaction.rows(value(1));
    proxy.cutBefore("COMMIT");
    const settled = await Promise.allSettled([
      transaction.rows(value(2)),
      transaction.rows(value(3)),
      transaction.commit(),
    ]);
    for (const result of settled) {
      expect(result.status === "rejected" && classifyFailure(result.reason)).toBe("LOST");
    }
  });

  test("rejects a value that cannot be sent, and sends and commits nothing after it", async () => {
    const transaction = begin();
    const before = transaction.rows(value(1));
    const refused = transaction.rows(sql.raw("SELECT ?::jsonb", [{ n: 1n }]));
    const after = [refused, transaction.rows(value(2)), transaction.commit()];
    const reasons = (await Promise.allSettled(after)).map((result) => ("reason" in result ? `${result.reason}` : ""));
    expect(reasons.map((reason) => /BigInt|aborted/.exec(reason)?.[0])).toEqual(["BigInt", "aborted", "BigInt"]);
    expect(await before).toEqual([{ n: 1 }]);
    await transaction.rollback();
  });

  test("rejects statements after its end, which would run in the next transaction of the connection", async () => {
    const ended = begin();
    await Promise.allSettled([ended.rows(failing(0))]);
    const next = ended.restart();
    await expect(ended.rows(value(1))).rejects.toThrow("after the end of its transaction");
    await next.commit();
    await expect(next.rows(value(1))).rejects.toThrow("after the end of its transaction");
    const undone = begin();
    await undone.rollback();
    await expect(undone.rows(value(1))).rejects.toThrow("after the end of its transaction");
  });

  describe("that ends early", () => {
    const early = () => beginOn(client, database.namedStatements, true);
    const began = sql.raw("SELECT now()::text AS n");
    const locked = sql.raw("SELECT now()::text AS n FROM tenants FOR SHARE");

    test("commits with each batch of plain queries, and begins again with the next", async () => {
      const before = proxy.roundTrips();
      const transaction = early();
      const [first, second] = await Promise.all([transaction.rows(began), transaction.rows(began)]);
      expect(second).toEqual(first);
      expect(client.getTransactionStatus()).toBe("I");
      expect(await transaction.rows(began)).not.toEqual(first);
      await transaction.commit();
      await transaction.rollback();
      expect(proxy.roundTrips() - before).toBe(2);
      await expect(transaction.rows(began)).rejects.toThrow("after the end of its transaction");
    });

    test.each([
      ["lock", locked],
      ["set something", sql.raw("SET LOCAL work_mem = '1MB'")],
      ["write", sql.raw("WITH gone AS (DELETE FROM slots RETURNING 1) SELECT count(*) FROM gone")],
    ])("stays open after statements that %s", async (_, statement) => {
      const transaction = early();
      const [first] = await Promise.all([transaction.rows(began), transaction.rows(statement)]);
      expect(client.getTransactionStatus()).toBe("T");
      expect(await transaction.rows(began)).toEqual(first);
      await transaction.commit();
      expect(client.getTransactionStatus()).toBe("I");
    });

    test("fails with a failed query that nobody awaits, and is rolled back", async () => {
      const transaction = early();
      transaction.send(failing(0));
      await transaction.rows(value(1)).catch(() => undefined);
      await expect(transaction.commit()).rejects.toMatchObject({ code: "22012" });
      await transaction.rollback();
      expect(client.getTransactionStatus()).toBe("I");
    });
  });

  test("answers an empty statement with no rows", async () => {
    const transaction = begin();
    const answers = Promise.all([transaction.rows(sql.raw("-- nothing")), transaction.rows(value(1))]);
    await transaction.commit();
    expect(await answers).toEqual([[], [{ n: 1 }]]);
  });
});

test("a connection is asked once for the columns of a named statement", async () => {
  const database = openDatabase({
    url: proxy.url,
    maxConnections: 1,
    acquireTimeoutMs: 30_000,
    queryTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  const client = await database.acquire();
  let described = 0;
  client.connection.on("rowDescription", () => (described += 1));
  const turn = async () => {
    described = 0;
    const transaction = beginOn(client, true);
    await Promise.all([transaction.rows(sql.raw("SELECT ?::int AS n", [1])), transaction.commit()]);
    return described;
  };
  expect([await turn(), await turn(), await turn()]).toEqual([2, 0, 0]);
  client.release();
  await database.close();
});

test("the settings of a transaction accept only a UUID or plain text", async () => {
  const start = { limits: LIMITS, namedStatements: true, plansOnce: true };
  const client = {} as PoolClient;
  for (const tenantId of ["", randomUUID().toUpperCase(), `${randomUUID()}'; RESET ALL; --`]) {
    expect(() => new PipelinedTransaction(client, { ...start, scope: { tenantId } })).toThrow("lower-case UUID");
  }
  for (const value of ["", "on'; RESET ALL; --", "a\\b"]) {
    const scope = { setting: "cupo.jobs", value } as const;
    expect(() => new PipelinedTransaction(client, { ...start, scope })).toThrow(
      "the value of cupo.jobs may only contain",
    );
  }
});

describe("a database that does not answer", () => {
  test("is given up after a while with its connection, and a new one is opened", async () => {
    const database = openDatabase({
      url: proxy.url,
      maxConnections: 1,
      acquireTimeoutMs: 30_000,
      queryTimeoutMs: QUERY_TIMEOUT_MS,
      onIdleError: () => undefined,
    });
    const client = await database.acquire();
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    const hold = proxy.holdBefore("silence");
    const transaction = beginOn(client, true);
    const unanswered = await within(20_000, Promise.allSettled([transaction.rows(sql.raw("SELECT 'silence'"))]));
    expect(unanswered[0]).toMatchObject({ status: "rejected", reason: { message: "Query read timeout" } });
    expect(classifyFailure(unanswered[0]?.status === "rejected" && unanswered[0].reason)).toBe("LOST");
    client.release(true);
    await within(20_000, ended);
    hold.release();
    expect((await database.pool.query("SELECT 1")).rowCount).toBe(1);
    await database.close();
  });

  test("is given up by a released connection with a pending answer, so that the pool can close", async () => {
    const database = openDatabase({
      url: proxy.url,
      maxConnections: 1,
      acquireTimeoutMs: 30_000,
      queryTimeoutMs: QUERY_TIMEOUT_MS,
      onIdleError: () => undefined,
    });
    const client = await database.acquire();
    const hold = proxy.holdBefore("forgotten");
    const unanswered = Promise.allSettled([client.query("SELECT 'forgotten'")]);
    client.release(true);
    await within(20_000, database.close());
    expect(await unanswered).toMatchObject([{ status: "rejected" }]);
    hold.release();
  });

  test("does not affect an idle connection", async () => {
    let idleErrors = 0;
    const database = openDatabase({
      url: proxy.url,
      maxConnections: 1,
      acquireTimeoutMs: 30_000,
      queryTimeoutMs: 50,
      onIdleError: () => {
        idleErrors += 1;
      },
    });
    const client = await database.acquire();
    const silent = once(client.connection.stream, "timeout");
    client.release();
    await within(20_000, silent);
    const same = await database.acquire();
    expect(same).toBe(client);
    same.release();
    await database.close();
    expect(idleErrors).toBe(0);
  });
});

function beginOn(client: PoolClient, namedStatements: boolean, endsEarly = false): PipelinedTransaction {
  return new PipelinedTransaction(client, {
    scope: { tenantId: randomUUID() },
    limits: LIMITS,
    namedStatements,
    plansOnce: true,
    endsEarly,
  });
}
