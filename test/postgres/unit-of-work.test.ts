import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { sql } from "../../src/postgres/sql.js";
import { insertPatient } from "../../src/postgres/tables/patients/patients.js";
import { duplicateDocument } from "../../src/services/patients/patient-service.js";
import { deferred } from "../support/deferred.js";
import {
  consentOf,
  newCall,
  newPatient,
  RESPONSE,
  startWorkServer,
  type TenantWork,
  transactionOf,
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

describe("an unused key", () => {
  test("commits effect, audit and result together", async () => {
    const call = newCall();
    const patient = newPatient();
    const outcome = await work.register(call, work.claim(call), patient);
    expect(outcome).toEqual({ kind: "EXECUTED" });
    expect(await work.count("patients")).toBe(1);
    expect(await work.count("audit_events")).toBe(1);
    expect(await work.count("idempotency_keys")).toBe(1);
  });

  test("takes one round trip for work that waits for no answer", async () => {
    await work.register(newCall(), work.claim(newCall()), newPatient());
    const before = server.proxy.roundTrips();
    const call = newCall();
    await work.register(call, work.claim(call), newPatient());
    expect(server.proxy.roundTrips() - before).toBe(1);
  });

  test("takes two round trips for work that waits for one answer, and stores its result too", async () => {
    const call = newCall();
    const key = work.claim(call);
    const before = server.proxy.roundTrips();
    const outcome = await work.store.execute(key, call, work.principal, async () => {
      await transactionOf(call).rows(sql.raw("SELECT 1"));
      return RESPONSE;
    });
    expect(outcome).toEqual({ kind: "EXECUTED" });
    expect(server.proxy.roundTrips() - before).toBe(2);
    const replay = { kind: "REPLAY", response: Buffer.from(RESPONSE), isOwn: false };
    expect(await work.register(newCall(), key, newPatient())).toEqual(replay);
  });

  test("takes one round trip for each answer of a read", async () => {
    const call = newCall();
    const read = async () => {
      await transactionOf(call).rows(sql.raw("SELECT 1"));
      return transactionOf(call).rows(sql.raw("SELECT current_setting('cupo.tenant_id') AS tenant"));
    };
    const before = server.proxy.roundTrips();
    expect(await work.store.read(call, work.principal, read)).toEqual([{ tenant: work.principal.tenantId }]);
    expect(server.proxy.roundTrips() - before).toBe(2);
  });

  test("is rejected and stores nothing if a required row is not inserted", async () => {
    const patient = newPatient();
    await work.register(newCall(), work.claim(newCall()), patient);
    const key = work.claim(newCall());
    const attempt = work.register(newCall(), key, { ...patient, id: randomUUID() });
    await expect(attempt).rejects.toMatchObject({ errors: [{ code: "DUPLICATE", field: "documentNumber" }] });
    expect(await work.count("patients")).toBe(1);
    expect(await work.count("audit_events")).toBe(1);
    expect(await work.count("idempotency_keys")).toBe(1);
    expect(await work.register(newCall(), key, newPatient())).toEqual({ kind: "EXECUTED" });
  });

  test("writes nothing and leaves the key unused if the work fails", async () => {
    const call = newCall();
    const refused = new CupoError("VALIDATION_FAILED");
    const attempt = work.store.execute(work.claim(call), call, work.principal, async () => {
      insertPatient(transactionOf(call), newPatient(), consentOf(call, work.principal), duplicateDocument);
      await transactionOf(call).rows(sql.raw("SELECT 1"));
      throw refused;
    });
    await expect(attempt).rejects.toBe(refused);
    expect(await work.count("patients")).toBe(0);
    expect(await work.count("idempotency_keys")).toBe(0);
    expect(await work.register(call, work.claim(call), newPatient())).toEqual({ kind: "EXECUTED" });
  });

  test("announces the tenant after a change, but not after a failure, a replay or work without changes", async () => {
    const call = newCall();
    const key = work.claim(call);
    const failure = work.store.execute(key, call, work.principal, async () => {
      call.effects.push({ resourceType: "Patient", resourceId: randomUUID(), action: "CREATE", version: 1 });
      throw new CupoError("VALIDATION_FAILED");
    });
    await expect(failure).rejects.toThrow();
    await work.inTransaction(newCall(), work.principal, async () => undefined);
    expect(work.changed).toEqual([]);
    await work.register(call, key, newPatient());
    expect(work.changed).toEqual([work.principal.tenantId]);
    await work.register(newCall(), key, newPatient());
    expect(work.changed).toEqual([work.principal.tenantId]);
  });

  test("fails if a statement fails that no code waits for", async () => {
    const call = newCall();
    const attempt = work.store.execute(work.claim(call), call, work.principal, async () => {
      transactionOf(call).send(sql.raw("SELECT 1 / 0"));
      return RESPONSE;
    });
    await expect(attempt).rejects.toMatchObject({ code: "22012" });
    expect(await work.count("idempotency_keys")).toBe(0);
  });
});

describe("a used key", () => {
  test("returns the first result and does not repeat the work", async () => {
    const first = newCall();
    const key = work.claim(first);
    await work.register(first, key, newPatient());
    const before = server.proxy.roundTrips();
    const outcome = await work.register(newCall(), key, newPatient());
    expect(outcome).toEqual({ kind: "REPLAY", response: Buffer.from(RESPONSE), isOwn: false });
    expect(server.proxy.roundTrips() - before).toBe(2);
    expect(await work.count("patients")).toBe(1);
  });

  test("takes precedence over the error that the work would end with now", async () => {
    const first = newCall();
    const key = work.claim(first);
    await work.register(first, key, newPatient());
    const outcome = await work.store.execute(key, newCall(), work.principal, () =>
      Promise.reject(new CupoError("OPTION_EXPIRED")),
    );
    expect(outcome).toMatchObject({ kind: "REPLAY" });
  });

  test("rejects another request", async () => {
    const first = newCall();
    const key = work.claim(first);
    await work.register(first, key, newPatient());
    const other = { ...key, fingerprint: Buffer.alloc(32, 2) };
    expect(await work.register(newCall(), other, newPatient())).toEqual({ kind: "REUSED" });
  });

  test("of a call that is still running is waited for, until a time limit", async () => {
    const first = newCall();
    const key = work.claim(first);
    const [begun, ended] = [deferred(), deferred()];
    const slow = work.store.execute(key, first, work.principal, async () => {
      insertPatient(transactionOf(first), newPatient(), consentOf(first, work.principal), duplicateDocument);
      await transactionOf(first).rows(sql.raw("SELECT 1"));
      begun.resolve();
      await ended.promise;
      return RESPONSE;
    });
    await begun.promise;
    expect(await work.register(newCall(), key, newPatient())).toEqual({ kind: "IN_PROGRESS" });
    ended.resolve();
    expect(await slow).toEqual({ kind: "EXECUTED" });
  });

  test("of 64 equal concurrent calls has one effect and 64 equal answers", async () => {
    const patient = 30_000;
    work = server.newTenant(patient);
    const key = work.claim(newCall());
    const outcomes = await Promise.all(Array.from({ length: 64 }, () => work.register(newCall(), key, newPatient())));
    expect(outcomes.filter(({ kind }) => kind === "EXECUTED")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "REPLAY")).toHaveLength(63);
    expect(await work.count("patients")).toBe(1);
  });
});
