import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Call, Principal } from "../../src/call.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { createFeedReader, type FeedReader } from "../../src/events/feed-reader.js";
import { assignPositions } from "../../src/jobs/assign-positions.js";
import { eraseTenants } from "../../src/jobs/erase-tenants.js";
import { extendSchedules } from "../../src/jobs/extend-schedules.js";
import { offerFreedSlots } from "../../src/jobs/offer-freed-slots.js";
import {
  purgeDeliveries,
  purgeEvents,
  purgeHolds,
  purgeIdempotencyKeys,
  purgeOptionTokens,
  purgeQuotas,
} from "../../src/jobs/purges.js";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import { CAUGHT_UP_MS, writeTimeEvents } from "../../src/jobs/write-time-events.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { takesIdempotencyKey } from "../../src/operation.js";
import { appendAudit } from "../../src/postgres/audit.js";
import type { Database } from "../../src/postgres/database.js";
import { findChangedFeeds, readOutbox } from "../../src/postgres/tables/events/event-overview.js";
import { countHolds } from "../../src/postgres/tables/holds/hold-overview.js";
import { findDueTenants, findFurthestBehind } from "../../src/postgres/tables/schedule/due-programs.js";
import {
  findActiveWebhooks,
  findWaitingWebhooks,
  readWebhookState,
} from "../../src/postgres/tables/webhooks/webhook-overview.js";
import { newId } from "../../src/uuid.js";
import { deliverWebhook } from "../../src/webhooks/deliver-webhook.js";
import { exampleCalls, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { testNow } from "../support/clock.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";
import { recordStatements, type SentStatement } from "../support/sent-statements.js";
import { matches, readSources } from "../support/sources.js";
import { awaitSlot } from "./await-slot.js";
import { readDistributedTables } from "./distributed-tables.js";
import { LOCKS, locksIn, PLANNER_SETTINGS, plannerSettingsIn, scansIn } from "./operation-statements.js";
import { ROUND_TRIPS, statementsOfLastCall, tripsOfLastCall } from "./round-trips.js";
import { type DistributedTables, strayQueries } from "./statement-tenants.js";

/** The first words of statements for all tenants at once. deploy/citus/README.md lists them with the reasons. */
const ACROSS_TENANTS = [
  "DELETE FROM consumed_option_tokens WHERE (tenant_id, jti) IN (",
  "DELETE FROM event_positions WHERE (tenant_id, position) IN (",
  "DELETE FROM idempotency_keys WHERE (tenant_id, key_hash) IN (",
  "DELETE FROM quota_windows WHERE (tenant_id, principal, policy) IN (",
  "DELETE FROM appointment_holds WHERE (tenant_id, id) IN (",
  "DELETE FROM webhook_deliveries WHERE (tenant_id, webhook_id, id) IN (",
  "SELECT DISTINCT tenant_id AS id FROM event_outbox",
  "SELECT DISTINCT p.tenant_id AS id FROM programs",
  "SELECT DISTINCT webhook_id AS id FROM webhook_deliveries",
  "SELECT audit_event_id AS id FROM event_outbox",
  "SELECT count(*)::integer AS count FROM event_outbox",
  "SELECT count(*)::integer AS pending, coalesce(",
  "SELECT id, state FROM webhooks",
  "SELECT coalesce(max($1::date + greatest(coalesce(p.horizon_days, t.horizon_days, 90), 90) - p.materialized_through), 0)",
  'SELECT tenant_id AS "tenantId", id AS "webhookId" FROM webhooks',
  'SELECT tenant_id AS "tenantId", slot_id AS "slotId" FROM freed_slots',
  "SELECT count(*) FILTER (",
  'SELECT tenant_id AS "tenantId", id AS "webhookId", position FROM webhooks',
  "SELECT tenant_id, last_position::text, false AS is_outstanding FROM event_feeds",
  "INSERT INTO time_event_progress (tenant_id, through) SELECT f.tenant_id,",
  "SELECT tenant_id AS id FROM time_event_progress",
  "SELECT p.tenant_id AS id FROM time_event_progress",
  "UPDATE time_event_progress SET through",
  "SELECT DISTINCT p.tenant_id AS id FROM programs p WHERE p.materialized_through IS NOT NULL",
  "SELECT DISTINCT tenant_id AS id FROM opportunity_changes",
  'select "tenant_id" as "tenantId", "display_name" as "displayName", "state"',
  "SELECT tenant_id AS id FROM tenants WHERE state <> 'ACTIVE'",
  "SELECT tenant_id AS id FROM tenants WHERE state = 'ERASING'",
];

/** Have joins over all tenants, on tenant_id. */
const FOR_ALL_TENANTS = [
  "postgres/tables/opportunity/summaries.ts",
  "postgres/tables/schedule/due-programs.ts",
  "postgres/tables/time-events/due-tenants.ts",
];

/** Makes some free slots that a waitlist entry wants due to be offered. */
const FREE_SOME_SLOTS = `INSERT INTO freed_slots (tenant_id, slot_id, practitioner_id, starts_at, due_at)
    SELECT s.tenant_id, s.id, s.practitioner_id, s.starts_at, '-infinity' FROM slots s
      JOIN waitlist_entries w ON w.closed_at IS NULL AND s.local_date BETWEEN w.date_from AND w.date_to
      JOIN program_services o ON o.program_id = s.program_id AND o.service_id = w.service_id
      JOIN programs p ON p.id = s.program_id AND p.location_id = coalesce(w.location_id, p.location_id)
    WHERE s.appointment_id IS NULL ORDER BY s.starts_at DESC LIMIT 20 ON CONFLICT DO NOTHING;
  UPDATE tenant_settings SET freed_slot_offer_minutes = 5`;

let database: TestDatabase;
let proxy: PostgresProxy;
let taken: ReturnType<typeof recordStatements>;
let tables: DistributedTables;
let sent: SentStatement[];
let settings: Readonly<Record<string, readonly string[]>>;
/** The statements of each writing operation. */
let calls: ReadonlyMap<string, readonly SentStatement[]>;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  taken = recordStatements(proxy);
  tables = await readDistributedTables(database.adminUrl);
  ({ sent, calls, settings } = await callEverything());
});

afterAll(async () => {
  await proxy.close();
  await database.drop();
});

test("every operation and job states the tenant in each query for each table, except statements for all tenants", async () => {
  await doEveryJob();
  const texts = new Set([...sent, ...taken()].map(({ text }) => text));
  expect(texts.size).toBeGreaterThan(250);
  const strays: string[] = [];
  for (const text of texts)
    if ((await strayQueries(text, tables)).length > 0) strays.push(text.replaceAll(/\s+/g, " "));
  const known = strays.filter((text) => ACROSS_TENANTS.some((beginning) => text.startsWith(beginning)));
  expect(strays).toEqual(known);
  expect(known).toHaveLength(ACROSS_TENANTS.length);
});

test("each writing operation takes the documented number of round trips to the database", () => {
  expect(ofEach(tripsOfLastCall)).toEqual(ROUND_TRIPS);
});

test("each writing operation locks the documented rows, so that no other call changes them meanwhile", () => {
  expect(ofEach(locksIn)).toEqual(LOCKS);
});

test("operations with statements for which the planner is steered say so in their transaction", () => {
  expect(settings).toEqual(PLANNER_SETTINGS);
});

test("a call whose statements wait for each other takes a round trip per wait", () => {
  const statement = (text: string, flight: number) => ({ text, values: [], connection: 1, flight });
  const claim = statement('with "claimed" as (insert into "idempotency_keys" default values) select 1 / 1', 1);
  const call = [statement("BEGIN", 1), claim, statement("SELECT 1", 2), statement("COMMIT", 3)];
  expect(tripsOfLastCall([statement("BEGIN", 0), statement("COMMIT", 0), ...call])).toBe(3);
});

test("no statement in the source takes its tenant from another table, used or not", () => {
  const fromAnother = /\btenant_id\s*=\s*"?\w+"?\."?tenant_id\b/;
  const sources = readSources(fileURLToPath(new URL("../../src", import.meta.url)));
  const ofCalls = /^postgres\/(?!migration|search\/)/;
  const found = matches(sources, ofCalls, fromAnother);
  expect(found.filter((place) => !FOR_ALL_TENANTS.some((file) => place.startsWith(file)))).toEqual([]);
  const seeded = { "postgres/tables/a.ts": "`SELECT FROM slots s\n JOIN programs p ON p.tenant_id = s.tenant_id`" };
  expect(matches(seeded, ofCalls, fromAnother)).toEqual(["postgres/tables/a.ts:2"]);
});

test("the audit rows of a call with many changes state the tenant too", async () => {
  const effects = Array.from({ length: 30 }, () => ({
    action: "CREATE",
    resourceType: "Patient",
    resourceId: newId(),
  }));
  const call = { operation: "x", correlationId: newId(), effects } as unknown as Call;
  const principal = { id: "x", tenantId: newId() } as unknown as Principal;
  const texts = appendAudit(call, principal, () => Buffer.alloc(32)).map(
    (statement) => statement.toSQL().toNative().sql,
  );
  expect(texts).toHaveLength(2);
  for (const text of texts) expect(await strayQueries(text, tables)).toEqual([]);
});

describe("a statement is reported as not routable that", () => {
  test.each([
    ["names no tenant", "SELECT id FROM slots WHERE id = $1", ["slots without its tenant"]],
    [
      "takes the tenant from a joined table",
      "SELECT s.id FROM programs p JOIN slots s ON s.tenant_id = p.tenant_id AND s.program_id = p.id WHERE p.tenant_id = $1",
      ["slots s without its tenant"],
    ],
    [
      "takes the tenant from an outer query",
      `SELECT id FROM appointments WHERE tenant_id = $1
         AND (SELECT bool_or(s.retained) FROM slots s WHERE s.tenant_id = appointments.tenant_id)`,
      ["slots s without its tenant"],
    ],
    [
      "states the tenant only in one branch of an OR",
      "SELECT id FROM slots WHERE tenant_id = $1 OR retained",
      ["slots without its tenant"],
    ],
    [
      "has a side of a UNION without the tenant",
      "SELECT id FROM slots WHERE tenant_id = $1 UNION ALL SELECT id FROM slots",
      ["slots without its tenant"],
    ],
    [
      "changes or deletes rows that may be another tenant's",
      "WITH gone AS (DELETE FROM slots s USING programs p WHERE p.tenant_id = $1 RETURNING s.id) SELECT id FROM gone",
      ["slots s without its tenant"],
    ],
    ["shares its text with another statement", "BEGIN; SET LOCAL lock_timeout = 1", ["several statements in one text"]],
    ["updates without a tenant", "UPDATE slots SET retained = true WHERE id = $1", ["slots without its tenant"]],
    [
      "changes rows in the WITH of a statement that changes rows too",
      "WITH one AS (INSERT INTO notes (tenant_id) VALUES ($1)) INSERT INTO calendars (tenant_id) VALUES ($1)",
      ["one changes rows in the WITH of a statement that does"],
    ],
    [
      "inserts rows selected without FROM",
      "INSERT INTO contract_services (tenant_id, contract_id, service_id) SELECT $1, $2, unnest($3::uuid[])",
      ["contract_services from rows without a tenant"],
    ],
    [
      "has a query in VALUES",
      "INSERT INTO notes (tenant_id, id) VALUES ((SELECT tenant_id FROM patients WHERE tenant_id = $1), $2)",
      ["notes without its tenant", "notes with a query in VALUES"],
    ],
    [
      "has a query in ON CONFLICT",
      `INSERT INTO day_counters AS c (tenant_id, booked) VALUES ($1, 1) ON CONFLICT (tenant_id) DO UPDATE SET booked = 2
         WHERE c.booked < (SELECT daily_capacity FROM program_rules WHERE tenant_id = $1)`,
      ["day_counters with a query in ON CONFLICT"],
    ],
    [
      "copies from a query to a table with a generated column",
      "INSERT INTO event_outbox (tenant_id, audit_event_id) SELECT tenant_id, id FROM audit_events WHERE tenant_id = $1",
      ["event_outbox from a query, filled anew, with no RETURNING"],
    ],
  ])("%s", async (_, text, found) => {
    expect(await strayQueries(text, tables)).toEqual(found);
  });

  test("is not reported: parts of a WITH, tables without a tenant, and a tenant as a constant or with a cast", async () => {
    const text = `WITH slots AS (SELECT id FROM appointments a WHERE $1::uuid = a.tenant_id AND a.id = $2)
      SELECT FROM slots, option_token_keys, pg_class LEFT JOIN notes n
        ON n.tenant_id = '00000000-0000-0000-0000-000000000000'::uuid AND n.id = $3`;
    expect(await strayQueries(text, tables)).toEqual([]);
  });
});

function ofEach<T>(valueOf: (statements: readonly SentStatement[]) => T): Record<string, T> {
  return Object.fromEntries(Array.from(calls, ([name, statements]) => [name, valueOf(statements)]));
}

/**
 * Fills the demo tenants and calls the example of each operation. Returns the statements sent, those of each writing
 * operation, and the planner's settings of each operation that has any.
 */
async function callEverything() {
  const all: SentStatement[] = [];
  const writing = new Map<string, readonly SentStatement[]>();
  const settingsByName: Record<string, readonly string[]> = {};
  const service = await startDemoService({ DATABASE_URL: proxy.url, RATE_LIMIT_STORE: "postgres" });
  try {
    await exampleCalls(service, requestExamples(service.now())).call("MaterializeSchedule");
    await awaitSlot(service, database);
    const names = Object.keys(requestExamples(service.now()));
    const examples = exampleCalls(service, requestExamples(service.now()));
    for (const name of names) {
      const { status, text } = await examples.call(name);
      expect([name, Math.floor(status / 100), text]).toEqual([name, 2, text]);
      const statements = taken();
      all.push(...statements);
      const method = unaryMethods.get(name);
      const isWriting = method !== undefined && takesIdempotencyKey(method);
      if (isWriting) writing.set(name, statementsOfLastCall(statements));
      const steered = isWriting ? plannerSettingsIn(statementsOfLastCall(statements)) : scansIn(statements);
      if (steered.length > 0) settingsByName[name] = steered;
    }
  } finally {
    await service.close();
  }
  return { sent: all, calls: writing, settings: settingsByName };
}

async function doEveryJob(): Promise<void> {
  const pool = openServiceDatabase(proxy.url, 2);
  const reader = createFeedReader(pool);
  const logger = { info: () => undefined, warn: () => undefined };
  try {
    for (const id of await findDueTenants(pool, "2099-01-01")) {
      await extendSchedules(id, { database: pool, now: testNow, maxOpenSlots: 1_000_000, logger });
      await findChangedFeeds(pool, new Map([[id, 0]]));
      await reader.read(id, 0, 10);
      await reader.findOldest(id);
    }
    await assignPositions(pool);
    for (const purge of [
      purgeIdempotencyKeys,
      purgeOptionTokens,
      purgeEvents,
      purgeQuotas,
      purgeDeliveries,
      purgeHolds,
    ])
      await purge(pool);
    await findFurthestBehind(pool, "2099-01-01");
    await readOutbox(pool);
    const later = () => testNow() + CAUGHT_UP_MS;
    for (const now of [testNow, later])
      await writeTimeEvents({ database: pool, now, noShowGraceMinutes: 15, callsEndMs: 0 });
    await execute(database.adminUrl, FREE_SOME_SLOTS);
    expect(await offerFreedSlots({ database: pool, now: testNow })).toBeGreaterThan(0);
    await countHolds(pool, testNow());
    await summarizeWaits(pool);
    await eraseTenants({ database: pool, now: testNow, logger });
    await sendToWebhooks(pool, reader);
  } finally {
    await pool.close();
  }
}

/** Sends to all webhooks of the demo tenant: one receiver accepts the events, the other one is gone. */
async function sendToWebhooks(pool: Database, reader: FeedReader): Promise<void> {
  await readWebhookState(pool);
  const statuses = [204, 410];
  const sender = { send: async () => ({ status: statuses.shift() ?? 204 }), close: () => undefined };
  const vault = { seal: () => "", open: async () => Buffer.from(`whsec_${Buffer.alloc(32).toString("base64")}`) };
  const logger = { info: () => undefined, warn: () => undefined };
  const ports = { database: pool, reader, vault, sender, judge: async () => "SEND" as const, now: testNow, logger };
  const active = await findActiveWebhooks(pool, [DEMO_TENANT_ID]);
  expect(active.length).toBeGreaterThan(1);
  await findWaitingWebhooks(pool);
  const stop = new AbortController().signal;
  for (const { tenantId, webhookId } of active)
    await deliverWebhook(tenantId, webhookId, ports, stop, { onLeased: async () => undefined });
}
