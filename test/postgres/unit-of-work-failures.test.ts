import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sql } from "../../src/postgres/sql.js";
import { lockPatient } from "../../src/postgres/tables/patients/patients.js";
import { execute } from "../support/database.js";
import { deferred } from "../support/deferred.js";
import {
  newCall,
  newPatient,
  RESPONSE,
  STATEMENT_TIMEOUT_SECONDS,
  startWorkServer,
  type TenantWork,
  transactionOf,
  WORK_LOCK_TIMEOUT_MS,
  type WorkServer,
} from "./work-under-test.js";

let server: WorkServer;
let work: TenantWork;

beforeAll(async () => {
  server = await startWorkServer();
});

afterAll(() => server.close());

beforeEach(() => {
  work = server.newTenant();
});

describe("a connection that breaks", () => {
  test("before COMMIT arrives: the call is repeated and takes effect once", async () => {
    const call = newCall();
    server.proxy.cutBefore("COMMIT");
    expect(await work.register(call, work.claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
    expect(await work.count("patients")).toBe(1);
  });

  test("after COMMIT took effect: the key returns the result of the first run", async () => {
    const call = newCall();
    server.proxy.cutAfter("COMMIT\0");
    expect(await work.register(call, work.claim(call), newPatient())).toMatchObject({ kind: "REPLAY", isOwn: true });
    expect(await work.count("patients")).toBe(1);
  });

  test("twice: 503 with Retry-After", async () => {
    const call = newCall();
    server.proxy.cutBefore("COMMIT");
    server.proxy.cutBefore("COMMIT");
    await expect(work.register(call, work.claim(call), newPatient())).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      headers: { "Retry-After": "1" },
    });
    expect(await work.count("patients")).toBe(0);
  });

  test.each([
    ["57P01", "an operator"],
    ["25P03", "the limit of an idle transaction"],
    ["25P04", "the limit of a whole transaction"],
    ["57P05", "the limit of an idle session"],
  ])("with %s, because of %s: the call is repeated once", async (state) => {
    const call = newCall();
    let runs = 0;
    const outcome = await work.store.execute(work.claim(call), call, work.principal, async () => {
      runs += 1;
      if (runs === 1) await transactionOf(call).rows(raise(state));
      return RESPONSE;
    });
    expect([outcome, runs]).toEqual([{ kind: "EXECUTED" }, 2]);
  });

  test("and a database that is unreachable: 503, until it is back", async () => {
    server.proxy.setDown(true);
    const call = newCall();
    await expect(work.register(call, work.claim(call), newPatient())).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
    });
    server.proxy.setDown(false);
    expect(await work.register(call, work.claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
  });
});

test("a statement whose columns a migration changed since: the call is repeated on a new connection", async () => {
  const read = () => {
    const call = newCall();
    const names = sql("holidays").where({ tenant_id: work.principal.tenantId }).select("name");
    return work.inTransaction(call, work.principal, () => transactionOf(call).rows(names));
  };
  expect(await read()).toEqual([]);
  await execute(server.ownerUrl, "ALTER TABLE holidays ALTER COLUMN name TYPE varchar");
  expect(await read()).toEqual([]);
});

describe("a transaction that PostgreSQL could not serialize", () => {
  test.each(["40001", "40P01"])("is repeated up to three times after %s", async (state) => {
    const call = newCall();
    let runs = 0;
    const outcome = await work.store.execute(work.claim(call), call, work.principal, async () => {
      runs += 1;
      if (runs <= 3) await transactionOf(call).rows(raise(state));
      return RESPONSE;
    });
    expect(outcome).toEqual({ kind: "EXECUTED" });
    expect(work.backOffs).toEqual([1, 2, 3]);
  });

  test("and then given up: 503 with Retry-After", async () => {
    const call = newCall();
    const attempt = work.store.execute(work.claim(call), call, work.principal, async () => {
      await transactionOf(call).rows(raise("40001"));
      return RESPONSE;
    });
    await expect(attempt).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      errors: [{ code: "BUSY", field: "" }],
      headers: { "Retry-After": "1" },
    });
    expect(work.backOffs).toEqual([1, 2, 3]);
  });
});

test("a row that another call locks for too long: 503 with Retry-After and the reason", async () => {
  const patient = newPatient();
  const first = newCall();
  await work.register(first, work.claim(first), patient);
  const { promise: ended, resolve: end } = deferred();
  const { promise: isLocked, resolve: locked } = deferred();
  const holder = newCall();
  const holding = work.inTransaction(holder, work.principal, async () => {
    await lockPatient(transactionOf(holder), patient.id);
    locked();
    await ended;
  });
  await isLocked;
  const waiter = newCall();
  const attempt = work.inTransaction(waiter, work.principal, () => lockPatient(transactionOf(waiter), patient.id));
  await expect(attempt).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    detail: expect.stringContaining("Another request is changing the same data"),
    errors: [expect.objectContaining({ code: "BUSY", field: "" })],
    headers: { "Retry-After": "1" },
  });
  end();
  await holding;
});

test("a statement that exceeds its time limit: 503 TIMEOUT with the limit, without an immediate retry", async () => {
  const call = newCall();
  const key = work.claim(call);
  let runs = 0;
  const attempt = work.store.execute(key, call, work.principal, async () => {
    runs += 1;
    await Promise.all([
      transactionOf(call).rows(sql.raw("SET LOCAL statement_timeout = 1")),
      transactionOf(call).rows(sql.raw("SELECT pg_sleep(60)")),
    ]);
    return RESPONSE;
  });
  const message = `A statement reached the service's limit of ${STATEMENT_TIMEOUT_SECONDS} s, or an operator cancelled it.`;
  await expect(attempt).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    detail: expect.stringMatching(
      /Nothing was changed\. A retry with the same Idempotency-Key is safe, but may end the same way\.$/,
    ),
    errors: [{ code: "TIMEOUT", field: "", message }],
    headers: { "Retry-After": String(STATEMENT_TIMEOUT_SECONDS) },
  });
  expect(runs).toBe(1);
  expect(await work.register(newCall(), key, newPatient())).toEqual({ kind: "EXECUTED" });
});

test("work that holds its key waits longer for locks than it would have waited for the key", async () => {
  const call = newCall();
  const setting = sql.raw("SELECT current_setting('lock_timeout') AS patience");
  const seen = await work.inTransaction(call, work.principal, () => transactionOf(call).rows(setting));
  expect(seen).toEqual([{ patience: `${WORK_LOCK_TIMEOUT_MS}ms` }]);
});

function raise(state: string) {
  return sql.raw(`DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '${state}'; END $$`);
}
