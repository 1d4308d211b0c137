import { randomUUID } from "node:crypto";
import { escapeIdentifier } from "pg";
import { expect, test } from "vitest";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { sql } from "../../src/postgres/sql.js";
import { createTestDatabase, execute } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 10_000 };
test.each([
  ["are planned once for all values", undefined, "force_generic_plan"],
  ["are planned by the server's default on Citus, which needs the values", "13.0", "auto"],
])("the statements of a transaction %s", async (_, citusVersion, mode) => {
  const testDatabase = await createTestDatabase();
  const name = escapeIdentifier(new URL(testDatabase.url).pathname.slice(1));
  if (citusVersion !== undefined)
    await execute(testDatabase.adminUrl, `ALTER DATABASE ${name} SET citus.version = '${citusVersion}'`);
  const database = openServiceDatabase(testDatabase.url, 1);
  try {
    await database.findExcessOfRole();
    const shown = await runAsTenant(database, randomUUID(), LIMITS, (transaction) =>
      transaction.rows(sql.raw("SELECT current_setting('plan_cache_mode') AS mode")),
    );
    expect(shown).toEqual([{ mode }]);
  } finally {
    await database.close();
    await testDatabase.drop();
  }
});
