import { randomUUID } from "node:crypto";
import { Client } from "pg";
import type { Effect, Principal } from "../../src/call.js";
import { createFeedReader, type FeedReader } from "../../src/events/feed-reader.js";
import { openCall } from "../../src/open-call.js";
import { appendAudit } from "../../src/postgres/audit.js";
import type { Database } from "../../src/postgres/database.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

/** A database whose feeds are read as the service does. */
export interface FeedUnderTest {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  readonly reader: FeedReader;
  /** Begins a transaction of a tenant, records the effects and leaves it open. */
  begin(tenantId: string, ...effects: readonly Effect[]): Promise<OpenTransaction>;
  close(): Promise<void>;
}

/** An open transaction that has written its audit rows. */
export interface OpenTransaction {
  /** Records more effects. */
  add(...effects: readonly Effect[]): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Long limits in milliseconds, for a busy machine. */
export const PATIENT_LIMITS = { statementTimeoutMs: 30_000, lockTimeoutMs: 30_000, idleTimeoutMs: 30_000 };

export async function startFeed(url = (testDatabase: TestDatabase) => testDatabase.url): Promise<FeedUnderTest> {
  const testDatabase = await createTestDatabase();
  const database = openServiceDatabase(url(testDatabase));
  return {
    testDatabase,
    database,
    reader: createFeedReader(database, PATIENT_LIMITS),
    begin: (tenantId, ...effects) => begin(testDatabase.url, tenantId, effects),
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
}

/** Returns a change of a resource that has only an id and no row of its own. */
export function changed(resourceId: string, version: number): Effect {
  return { resourceType: "Patient", resourceId, action: version === 1 ? "CREATE" : "UPDATE", version };
}

/** Commits changes of a tenant, each in its own transaction. */
export async function commitEach(feed: FeedUnderTest, tenantId: string, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) await (await feed.begin(tenantId, effect)).commit();
}

async function begin(url: string, tenantId: string, effects: readonly Effect[]): Promise<OpenTransaction> {
  const client = new Client(url);
  await client.connect();
  await client.query("BEGIN");
  await client.query(`SET LOCAL cupo.tenant_id = '${tenantId}'`);
  const add = async (...more: readonly Effect[]) => {
    const call = openCall({ rawHeaders: [] });
    call.operation = "test.Service/Method";
    call.effects.push(...more);
    for (const statement of appendAudit(call, principalIn(tenantId), () => Buffer.alloc(32))) {
      const { sql, bindings } = statement.toSQL().toNative();
      await client.query(sql, [...bindings]);
    }
  };
  const end = async (text: string) => {
    await client.query(text);
    await client.end();
  };
  await add(...effects);
  return { add, commit: () => end("COMMIT"), rollback: () => end("ROLLBACK") };
}

/** Returns a principal of a tenant, without organization and company. */
export function principalIn(tenantId: string): Principal {
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

/** Returns SQL that inserts this many changes of patients that are not in the feed yet. Run it without row-level security. */
export function insertUnplaced(tenantId: string, count: number): string {
  return `WITH done AS (INSERT INTO audit_events (tenant_id, id, operation, principal, correlation_id, action, resource_type, resource_id)
       SELECT '${tenantId}', gen_random_uuid(), 'test', 'test', gen_random_uuid(), 'CREATE', 'Patient', gen_random_uuid()
       FROM generate_series(1, ${count}) RETURNING tenant_id, id)
     INSERT INTO event_outbox (tenant_id, audit_event_id) SELECT tenant_id, id FROM done`;
}

/** Returns the id of a tenant without data. */
export function newTenant(): string {
  return randomUUID();
}
