import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import { knownMigrations } from "../../src/postgres/migration/known-migrations.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

/** Statements that undo the last migration, which is compatible from 0015 on, so that it can run again. */
const UNDONE = [
  "DELETE FROM schema_migrations WHERE name = '0033-practitioner-exclusion'",
  "DELETE FROM schema_compatibility WHERE migration = '0033-practitioner-exclusion'",
];
const OLDEST = "0015-appointment-lists";
const SAYS_OLDEST = `the oldest release that may keep serving during this upgrade ends with migration ${OLDEST}`;

let database: TestDatabase;
let said: string[];
let warned: string[];

beforeEach(async () => {
  database = await createTestDatabase();
  await execute(database.ownerUrl, ...UNDONE);
  [said, warned] = [[], []];
});

afterEach(() => database.drop());

describe("an upgrade while another release serves", () => {
  test("logs the oldest release that may keep serving, and allows newer ones", async () => {
    await serveAs(`cupo-jobs ${OLDEST}`, "cupo-jobs 9999-newer", "psql", "cupo");
    await upgrade();
    expect({ said, warned }).toEqual({ said: [SAYS_OLDEST, "migrating to 0033-practitioner-exclusion"], warned: [] });
  });

  test("is rejected if that release is too old, with its name and the remedy, and changes nothing", async () => {
    await serveAs("cupo-jobs 0014-desk");
    await expect(upgrade()).rejects.toThrow(
      "A release that ends with migration 0014-desk serves this database and is too old for this upgrade. The oldest release " +
        `that may keep serving ends with migration ${OLDEST}. Stop its processes and migrate again. Or migrate while its ` +
        "requests fail: node dist/main.js migrate --despite-older",
    );
    expect(said).toEqual([SAYS_OLDEST]);
  });

  test("continues with a warning on request", async () => {
    await serveAs("cupo-jobs 0014-desk");
    await upgrade({ despiteOlder: true });
    expect(warned).toEqual([expect.stringMatching(/^A release that ends with migration 0014-desk serves/)]);
    expect(said).toContain("migrating to 0033-practitioner-exclusion");
  });

  test("warns about a release that does not state its version and may be new enough", async () => {
    await serveAs("cupo-jobs");
    await upgrade();
    expect(warned).toEqual([expect.stringContaining(`If it does not have migration ${OLDEST}, stop it`)]);
  });

  test("is rejected if a release does not state its version and the database is older than the oldest that may keep serving", async () => {
    await execute(
      database.adminUrl,
      "DELETE FROM schema_migrations WHERE name > '0014-desk'",
      "DROP TABLE schema_compatibility",
    );
    await serveAs("cupo-jobs");
    await expect(upgrade()).rejects.toThrow(
      /ends with migration 0014-desk or an earlier one serves .* ends with migration 0016-events\./,
    );
  });

  test("warns that no release may keep serving if the database is that old, because the first releases cannot be seen", async () => {
    await execute(
      database.adminUrl,
      "DELETE FROM schema_migrations WHERE name > '0014-desk'",
      "DROP TABLE schema_compatibility",
    );
    await serveAs("cupo");
    await expect(upgrade()).rejects.toThrow(/ \(migration 0015-appointment-lists, /);
    expect(warned).toEqual([
      expect.stringMatching(/^The database is at migration 0014-desk\. Every release that serves it is too old /),
    ]);
  });

  test("ignores releases that serve another database on the server", async () => {
    const other = await createTestDatabase();
    onTestFinished(other.drop);
    await serveAt(other, "cupo-jobs 0014-desk");
    await upgrade();
    expect(warned).toEqual([]);
  });
});

test("the job connection of a process is named after the last migration of its release", async () => {
  const pool = openJobQueuePool({ url: database.url, maxConnections: 1, onIdleError: () => undefined });
  const { rows } = await pool.query("SHOW application_name");
  await pool.end();
  expect(rows).toEqual([{ application_name: `cupo-jobs ${(await knownMigrations()).at(-1)}` }]);
});

function upgrade(options: { readonly despiteOlder?: boolean } = {}): Promise<void> {
  const listeners = { onProgress: (text: string) => said.push(text), onWarning: (text: string) => warned.push(text) };
  return migrate({ url: database.ownerUrl, ...listeners, ...options });
}

function serveAs(...names: readonly string[]): Promise<void> {
  return serveAt(database, ...names);
}

/** Connects as the service with these application names until the test ends. The owner is no member of that role. */
async function serveAt({ url }: TestDatabase, ...names: readonly string[]): Promise<void> {
  for (const application_name of names) {
    const client = new Client({ connectionString: url, application_name });
    client.on("error", () => undefined);
    await client.connect();
    onTestFinished(() => client.end());
  }
}
