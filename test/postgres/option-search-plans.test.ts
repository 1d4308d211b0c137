import { randomUUID } from "node:crypto";
import { escapeIdentifier } from "pg";
import { expect, test } from "vitest";
import type { Principal } from "../../src/call.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import { searchOptions } from "../../src/postgres/tables/appointments/option-search.js";
import { createTestDatabase, execute } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 10_000 };
const tenantId = randomUUID();
const caller = { id: "issuer client", issuer: "issuer", clientId: "client", scopes: new Set<string>() };
const principal: Principal = { ...caller, tenantId, organizationId: undefined, companyId: undefined };
const query = {
  patientId: undefined,
  appointmentId: undefined,
  heldDay: undefined,
  serviceId: randomUUID(),
  minutes: undefined,
  from: new Date("2026-11-18T12:00:00Z"),
  to: new Date("2026-11-19T12:00:00Z"),
  windows: [{ startSecond: 0, endSecond: 86_400 }],
  locationId: undefined,
  practitionerId: undefined,
  includeEmergency: true,
  after: undefined,
  limit: 10,
};

test.each([
  ["is planned once, whatever its values", undefined, "force_generic_plan"],
  ["is planned as the server likes on Citus, which can plan nothing without its values", "13.0", "auto"],
])("a search for options %s", async (_, citusVersion, mode) => {
  const testDatabase = await createTestDatabase();
  const name = escapeIdentifier(new URL(testDatabase.url).pathname.slice(1));
  if (citusVersion !== undefined)
    await execute(testDatabase.adminUrl, `ALTER DATABASE ${name} SET citus.version = '${citusVersion}'`);
  const database = openServiceDatabase(testDatabase.url, 1);
  try {
    const shown = await runAsTenant(database, tenantId, LIMITS, async (transaction) => {
      await searchOptions(transaction, principal, query);
      return transaction.rows(sql.raw("SELECT current_setting('plan_cache_mode') AS mode"));
    });
    expect(shown).toEqual([{ mode }]);
  } finally {
    await database.close();
    await testDatabase.drop();
  }
});
