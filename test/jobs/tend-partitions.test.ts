import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tendPartitions } from "../../src/jobs/tend-partitions.js";
import type { Database } from "../../src/postgres/database.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const DAY_MS = 86_400_000;

let testDatabase: TestDatabase;
let database: Database;
let logged: unknown[];
/** Milliseconds since the epoch, by the database's clock. */
let nowMs: number;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = openServiceDatabase(testDatabase.url);
  logged = [];
  const [row] = await execute(testDatabase.url, "SELECT extract(epoch FROM now())::float8 * 1000 AS ms");
  nowMs = Number(row?.["ms"]);
});

afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

describe("tendPartitions as the service role, which owns no table", () => {
  test("creates the due partitions and logs each; a second run has nothing to do", async () => {
    const done = await tend();
    expect(done).toHaveLength(6);
    expect(new Set(done.map((step) => step.replace(/_\d{4}_\d\d$/, "")))).toEqual(
      new Set(["made appointment_history", "made audit_events", "made patient_access_records"]),
    );
    expect(logged).toEqual(done.map((partition) => ({ partition })));
    expect(await tend()).toEqual([]);
  });

  test("drops partitions older than the owner's retention, unless the service's clock is behind", async () => {
    await tend();
    const bound = "cupo_least_id(date_trunc('month', now(), 'UTC') - interval '12 months')";
    await execute(
      testDatabase.ownerUrl,
      "ALTER TABLE audit_events DETACH PARTITION audit_events_first",
      `ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE) TO (${bound})`,
    );
    expect((await tend()).filter((step) => !step.startsWith("made"))).toEqual([]);
    await migrate({ url: testDatabase.ownerUrl, auditRetentionMonths: 12 });
    expect(await tend(nowMs - 40 * DAY_MS)).toEqual([]);
    expect(await tend()).toEqual(["dropped audit_events_first"]);
  });

  test("stops if a call holds a lock on a table for long, and continues next time", async () => {
    const caller = new Client(testDatabase.adminUrl);
    await caller.connect();
    try {
      await caller.query("BEGIN; LOCK TABLE audit_events_rest IN ACCESS SHARE MODE");
      const done = await tend();
      expect(done).toEqual([
        expect.stringMatching(/^made appointment_history/),
        expect.stringMatching(/^made appoint/),
      ]);
    } finally {
      await caller.end();
    }
    expect(await tend()).toHaveLength(4);
  });

  test("stops after the current partition when it is aborted", async () => {
    const ending = new AbortController();
    const logger = { info: () => ending.abort() };
    expect(await tendPartitions({ database, now: () => nowMs, logger }, ending.signal)).toHaveLength(1);
  });

  test("rejects for any other error", async () => {
    await execute(testDatabase.ownerUrl, "DROP FUNCTION cupo_make_partition(text, text, timestamptz)");
    await expect(tend()).rejects.toMatchObject({ code: "42883" });
  });
});

function tend(atMs: number = nowMs): Promise<string[]> {
  const logger = { info: (line: unknown) => void logged.push(line) };
  return tendPartitions({ database, now: () => atMs, logger });
}
