import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Call, Principal, Transaction } from "../../src/call.js";
import { CupoError } from "../../src/errors.js";
import type { IdempotencyClaim } from "../../src/interceptors/idempotency.js";
import { openCall } from "../../src/interceptors/open-call.js";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { insertPatient, type PatientRecord } from "../../src/postgres/patients.js";
import { sql } from "../../src/postgres/sql.js";
import { UnitOfWork } from "../../src/postgres/unit-of-work.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

const LIMITS = { statementTimeoutMs: 5_000, lockTimeoutMs: 200, idleTimeoutMs: 5_000 };
const RESPONSE = new TextEncoder().encode("first");

let testDatabase: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let store: UnitOfWork;
let backOffs: number[];
let principal: Principal;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startPostgresProxy(testDatabase.url);
  database = openDatabase({
    url: proxy.url,
    maxConnections: 8,
    acquireTimeoutMs: 1_000,
    queryTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
});

afterAll(async () => {
  await database.close();
  await proxy.close();
  await testDatabase.drop();
});

beforeEach(() => {
  backOffs = [];
  store = new UnitOfWork(database, {
    ...LIMITS,
    backOff: async (attempt) => {
      backOffs.push(attempt);
    },
  });
  const tenantId = randomUUID();
  principal = {
    id: "issuer client",
    issuer: "issuer",
    clientId: "client",
    tenantId,
    organizationId: undefined,
    companyId: undefined,
    scopes: new Set(),
  };
});

describe("a key that is free", () => {
  test("commits effect, audit and result together", async () => {
    const call = newCall();
    const patient = newPatient();
    const outcome = await register(call, claim(call), patient);
    expect(outcome).toEqual({ kind: "EXECUTED" });
    expect(await count("patients")).toBe(1);
    expect(await count("audit_events")).toBe(1);
    expect(await count("idempotency_keys")).toBe(1);
  });

  test("takes two round trips", async () => {
    await register(newCall(), claim(newCall()), newPatient());
    const before = proxy.roundTrips();
    const call = newCall();
    await register(call, claim(call), newPatient());
    expect(proxy.roundTrips() - before).toBe(2);
  });

  test("leaves nothing behind, and the key free, where the work fails", async () => {
    const call = newCall();
    const refused = new CupoError("VALIDATION_FAILED");
    const attempt = store.execute(claim(call), call, principal, async () => {
      await insertPatient(transactionOf(call), newPatient());
      throw refused;
    });
    await expect(attempt).rejects.toBe(refused);
    expect(await count("patients")).toBe(0);
    expect(await count("idempotency_keys")).toBe(0);
    expect(await register(call, claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
  });

  test("fails where a statement fails that nobody waits for", async () => {
    const call = newCall();
    const attempt = store.execute(claim(call), call, principal, async () => {
      transactionOf(call).send(sql.raw("SELECT 1 / 0"));
      return RESPONSE;
    });
    await expect(attempt).rejects.toMatchObject({ code: "22012" });
    expect(await count("idempotency_keys")).toBe(0);
  });
});

describe("a key that is taken", () => {
  test("gives the first result and does not do the work again", async () => {
    const first = newCall();
    const key = claim(first);
    await register(first, key, newPatient());
    const before = proxy.roundTrips();
    const outcome = await register(newCall(), key, newPatient());
    expect(outcome).toEqual({ kind: "REPLAY", response: Buffer.from(RESPONSE), isOwn: false });
    expect(proxy.roundTrips() - before).toBe(2);
    expect(await count("patients")).toBe(1);
  });

  test("wins over the error that the work would end with by now", async () => {
    const first = newCall();
    const key = claim(first);
    await register(first, key, newPatient());
    const outcome = await store.execute(key, newCall(), principal, () =>
      Promise.reject(new CupoError("OPTION_EXPIRED")),
    );
    expect(outcome).toMatchObject({ kind: "REPLAY" });
  });

  test("refuses another request", async () => {
    const first = newCall();
    const key = claim(first);
    await register(first, key, newPatient());
    const other = { ...key, fingerprint: Buffer.alloc(32, 2) };
    expect(await register(newCall(), other, newPatient())).toEqual({ kind: "REUSED" });
  });

  test("by a call that is still at work is waited for, and given up after a while", async () => {
    const first = newCall();
    const key = claim(first);
    const { promise: ended, resolve: end } = deferred();
    const slow = store.execute(key, first, principal, async () => {
      await insertPatient(transactionOf(first), newPatient());
      await ended;
      return RESPONSE;
    });
    expect(await register(newCall(), key, newPatient())).toEqual({ kind: "IN_PROGRESS" });
    end();
    expect(await slow).toEqual({ kind: "EXECUTED" });
  });

  test("by one of 64 equal calls at once leaves one effect and 64 equal answers", async () => {
    const key = claim(newCall());
    const outcomes = await Promise.all(Array.from({ length: 64 }, () => register(newCall(), key, newPatient())));
    expect(outcomes.filter(({ kind }) => kind === "EXECUTED")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "REPLAY")).toHaveLength(63);
    expect(await count("patients")).toBe(1);
  });
});

describe("a connection that breaks", () => {
  test("before COMMIT arrives: the call is run again and takes effect once", async () => {
    const call = newCall();
    proxy.cutBefore("COMMIT");
    expect(await register(call, claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
    expect(await count("patients")).toBe(1);
  });

  test("after COMMIT took effect: the key gives the result of the first run", async () => {
    const call = newCall();
    proxy.cutAfter("COMMIT\0");
    expect(await register(call, claim(call), newPatient())).toMatchObject({ kind: "REPLAY", isOwn: true });
    expect(await count("patients")).toBe(1);
  });

  test("twice: 503 with Retry-After", async () => {
    const call = newCall();
    proxy.cutBefore("COMMIT");
    proxy.cutBefore("COMMIT");
    await expect(register(call, claim(call), newPatient())).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      headers: { "Retry-After": "1" },
    });
    expect(await count("patients")).toBe(0);
  });

  test("and a database that is away: 503, healed when it is back", async () => {
    proxy.setDown(true);
    const call = newCall();
    await expect(register(call, claim(call), newPatient())).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    proxy.setDown(false);
    expect(await register(call, claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
  });
});

describe("a transaction that PostgreSQL could not serialize", () => {
  test.each(["40001", "40P01"])("is run again up to three times after %s", async (state) => {
    const call = newCall();
    let runs = 0;
    const outcome = await store.execute(claim(call), call, principal, async () => {
      runs += 1;
      if (runs <= 3) await transactionOf(call).rows(raise(state));
      return RESPONSE;
    });
    expect(outcome).toEqual({ kind: "EXECUTED" });
    expect(backOffs).toEqual([1, 2, 3]);
  });

  test("and then given up: 503 with Retry-After", async () => {
    const call = newCall();
    const attempt = store.execute(claim(call), call, principal, async () => {
      await transactionOf(call).rows(raise("40001"));
      return RESPONSE;
    });
    await expect(attempt).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", headers: { "Retry-After": "1" } });
    expect(backOffs).toEqual([1, 2, 3]);
  });
});

describe("row-level security", () => {
  test("shows and takes nothing of another tenant, whatever a statement asks for", async () => {
    const call = newCall();
    await register(call, claim(call), newPatient());
    const foreigner = { ...principal, tenantId: randomUUID() };
    const other = newCall();
    const seen = await inTransaction(other, foreigner, () => transactionOf(other).rows(sql("patients").select("id")));
    expect(seen).toEqual([]);
    const stray = newCall();
    const intrusion = inTransaction(stray, foreigner, () =>
      transactionOf(stray).rows(sql.raw("INSERT INTO audit_events SELECT * FROM audit_events")),
    );
    await expect(intrusion).resolves.toEqual([]);
    const forged = newCall();
    const forgery = inTransaction(forged, foreigner, () =>
      transactionOf(forged).rows(
        sql("patient_consents").insert({
          tenant_id: principal.tenantId,
          id: randomUUID(),
          patient_id: randomUUID(),
          granted_at: "2026-01-01T00:00:00Z",
          principal: "x",
          correlation_id: randomUUID(),
        }),
      ),
    );
    await expect(forgery).rejects.toMatchObject({ code: "42501" });
  });

  test("keeps audit and consent append-only", async () => {
    const call = newCall();
    await register(call, claim(call), newPatient());
    const next = newCall();
    await inTransaction(next, principal, async () => {
      await transactionOf(next).rows(sql("audit_events").update({ principal: "nobody" }));
      await transactionOf(next).rows(sql("audit_events").delete());
      return [];
    });
    const [row] = await execute(
      testDatabase.adminUrl,
      `SELECT count(*)::int AS n FROM audit_events WHERE tenant_id = '${principal.tenantId}' AND principal = 'issuer client'`,
    );
    expect(row?.["n"]).toBe(1);
  });
});

function register(call: Call, key: IdempotencyClaim, patient: PatientRecord) {
  return store.execute(key, call, principal, async () => {
    await insertPatient(transactionOf(call), patient);
    call.effects.push({ resourceType: "Patient", resourceId: patient.id, action: "CREATE", version: 1 });
    return RESPONSE;
  });
}

async function inTransaction<T>(call: Call, who: Principal, work: () => Promise<T>): Promise<T> {
  let result: T | undefined;
  const key = { ...claim(call), tenantId: who.tenantId };
  await store.execute(key, call, who, async () => {
    result = await work();
    return RESPONSE;
  });
  return result as T;
}

function newCall(): Call {
  const call = openCall({ rawHeaders: [] });
  call.operation = "test.Service/Method";
  return call;
}

function transactionOf(call: Call): Transaction {
  if (call.transaction === undefined) throw new Error("no transaction");
  return call.transaction;
}

function claim(call: Call): IdempotencyClaim {
  return {
    tenantId: principal.tenantId,
    principalId: principal.id,
    operation: "test.Service/Method",
    key: randomUUID(),
    fingerprint: Buffer.alloc(32, 1),
    correlationId: call.correlationId,
  };
}

function newPatient(): PatientRecord {
  return {
    id: randomUUID(),
    documentType: "CC",
    documentNumber: randomUUID().slice(0, 30),
    fullName: "Ana",
    phone: "12345",
    email: undefined,
    status: "ACTIVE",
    version: 1,
  };
}

function raise(state: string) {
  return sql.raw(`DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '${state}'; END $$`);
}

async function count(table: string): Promise<unknown> {
  const text = `SELECT count(*)::int AS n FROM ${table} WHERE tenant_id = '${principal.tenantId}'`;
  return (await execute(testDatabase.adminUrl, text))[0]?.["n"];
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
