import { Client } from "pg";
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { withoutCitus } from "../support/citus.js";
import { withDatabase } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectToSurvive } from "./tenants-at-work.js";

const LONG_MS = 600_000;

describe.skipIf(withoutCitus !== "")(`an unreachable worker${withoutCitus}`, () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
  }, LONG_MS);

  afterAll(() => service.close(), LONG_MS);

  test(
    "costs only its tenants 503; each repeated call is executed once, and the bookings are consistent",
    async () => {
      const [away = ""] = inject("testServer").workerUrls;
      await expectToSurvive(service, away, { begin: () => setAway(away, true), end: () => setAway(away, false) });
    },
    LONG_MS,
  );

  /** Stops or resumes connections to the worker's database. Stopping also closes the open ones. */
  async function setAway(worker: string, isAway: boolean): Promise<void> {
    const name = new URL(service.databaseUrl).pathname.slice(1);
    const admin = new Client(withDatabase(worker, "postgres"));
    await admin.connect();
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${!isAway}`);
    if (isAway) await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
    await admin.end();
  }
});
