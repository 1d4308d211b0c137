import { randomUUID } from "node:crypto";
import type { Call, Principal, Transaction } from "../../src/call.js";
import type { IdempotencyClaim, Outcome } from "../../src/interceptors/idempotency.js";
import { openCall } from "../../src/open-call.js";
import { openDatabase } from "../../src/postgres/database.js";
import type { GivenConsent } from "../../src/postgres/tables/patients/patient-evidence.js";
import { insertPatient, type PatientRecord } from "../../src/postgres/tables/patients/patients.js";
import { UnitOfWork } from "../../src/postgres/unit-of-work.js";
import { duplicateDocument } from "../../src/services/patients/patient-service.js";
import { testNow } from "../support/clock.js";
import { createTestDatabase, execute } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

/** A separate database, which units of work reach through a proxy. */
export interface WorkServer {
  readonly proxy: PostgresProxy;
  /** Bypasses the proxy, as the owner of the tables. */
  readonly ownerUrl: string;
  /** Bypasses the proxy and row-level security. */
  readonly adminUrl: string;
  newTenant(keyLockTimeoutMs?: number): TenantWork;
  close(): Promise<void>;
}

/** A unit of work for a tenant without rows. */
export interface TenantWork {
  readonly principal: Principal;
  readonly store: UnitOfWork;
  /** The pauses that the store requested, in order. They are not waited for. */
  readonly backOffs: readonly number[];
  /** The tenants whose changes the store announced, in order. */
  readonly changed: readonly string[];
  /** Returns the claim of a new key by a call. */
  claim(call: Call): IdempotencyClaim;
  /** Inserts a patient with a key and answers with {@link RESPONSE}. */
  register(call: Call, key: IdempotencyClaim, patient: PatientRecord): Promise<Outcome>;
  /** Runs work with a new key as the given principal. Returns its result. */
  inTransaction<T>(call: Call, who: Principal, does: () => Promise<T>): Promise<T>;
  /** Returns how many rows of a table belong to the tenant. */
  count(table: string): Promise<unknown>;
}

/** The response of {@link TenantWork.register}. */
export const RESPONSE = new TextEncoder().encode("first");

/** How long work waits for locks, in milliseconds. */
export const WORK_LOCK_TIMEOUT_MS = 400;

/** The statement timeout, in seconds. */
export const STATEMENT_TIMEOUT_SECONDS = 5;

const LIMITS = {
  statementTimeoutMs: STATEMENT_TIMEOUT_SECONDS * 1_000,
  lockTimeoutMs: 200,
  workLockTimeoutMs: WORK_LOCK_TIMEOUT_MS,
  idleTimeoutMs: 5_000,
};

export async function startWorkServer(): Promise<WorkServer> {
  const { url, ownerUrl, adminUrl, drop } = await createTestDatabase();
  const proxy = await startPostgresProxy(url);
  const database = openDatabase({
    url: proxy.url,
    maxConnections: 8,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  return {
    proxy,
    ownerUrl,
    adminUrl,
    newTenant(lockTimeoutMs = LIMITS.lockTimeoutMs) {
      const backOffs: number[] = [];
      const backOff = async (attempt: number) => void backOffs.push(attempt);
      const changed: string[] = [];
      const onCommitted = (tenantId: string) => void changed.push(tenantId);
      const store = new UnitOfWork(database, { ...LIMITS, lockTimeoutMs, backOff, onCommitted });
      return { ...tenantWork(store, adminUrl), backOffs, changed };
    },
    async close() {
      await database.close();
      await proxy.close();
      await drop();
    },
  };
}

/** Returns a call that has not started. */
export function newCall(): Call {
  const call = openCall({ rawHeaders: [] });
  call.operation = "test.Service/Method";
  return call;
}

/** Returns the transaction of a running call. */
export function transactionOf(call: Call): Transaction {
  if (call.transaction === undefined) throw new Error("no transaction");
  return call.transaction;
}

/** Returns a patient that no tenant has. */
export function newPatient(): PatientRecord {
  return {
    id: randomUUID(),
    documentType: "CC",
    documentNumber: randomUUID().slice(0, 30),
    fullName: "Ana",
    phone: "12345",
    email: undefined,
    status: "ACTIVE",
    version: 1,
    mergedInto: undefined,
    createdAt: new Date(testNow()),
    updatedAt: new Date(testNow()),
  };
}

/** Returns a consent that the call reported. */
export function consentOf({ correlationId }: Call, principal: Principal): GivenConsent {
  return { grantedAt: "2026-01-01T00:00:00Z", principal, correlationId };
}

function tenantWork(store: UnitOfWork, adminUrl: string): Omit<TenantWork, "backOffs" | "changed"> {
  const principal = principalOf(randomUUID());
  const claim = (call: Call) => claimOf(call, principal);
  return {
    principal,
    store,
    claim,
    register: (call, key, patient) =>
      store.execute(key, call, principal, async () => {
        insertPatient(transactionOf(call), patient, consentOf(call, principal), duplicateDocument);
        call.effects.push({ resourceType: "Patient", resourceId: patient.id, action: "CREATE", version: 1 });
        return RESPONSE;
      }),
    async inTransaction<T>(call: Call, who: Principal, does: () => Promise<T>) {
      let result: T | undefined;
      await store.execute(claimOf(call, who), call, who, async () => {
        result = await does();
        return RESPONSE;
      });
      return result as T;
    },
    async count(table) {
      const text = `SELECT count(*)::int AS n FROM ${table} WHERE tenant_id = '${principal.tenantId}'`;
      return (await execute(adminUrl, text))[0]?.["n"];
    },
  };
}

function principalOf(tenantId: string): Principal {
  return {
    id: "issuer client",
    issuer: "issuer",
    clientId: "client",
    tenantId,
    organizationId: undefined,
    companyId: undefined,
    scopes: new Set(),
  };
}

function claimOf({ correlationId }: Call, { tenantId, id: principalId }: Principal): IdempotencyClaim {
  return {
    tenantId,
    principalId,
    operation: "test.Service/Method",
    key: randomUUID(),
    fingerprint: Buffer.alloc(32, 1),
    correlationId,
  };
}
