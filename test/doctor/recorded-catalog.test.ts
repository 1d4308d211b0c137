import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import knex from "knex";
import { expect, onTestFinished, test } from "vitest";
import { type Catalog, readCatalog } from "../../src/postgres/inspection/catalog.js";
import { openInspection } from "../../src/postgres/inspection/open-inspection.js";
import { CATALOG_FILE, type RecordedObject } from "../../src/postgres/inspection/recorded-catalog.js";
import { knownMigrations, MIGRATIONS_FOLDER } from "../../src/postgres/migration/known-migrations.js";
import { runStatements } from "../../src/postgres/migration/run-statements.js";
import { createEmptyDatabase } from "../support/database.js";

test("catalog.txt has every object of a migrated database, with the migration that created or last changed it", async () => {
  const recorded = new Map<string, RecordedObject>();
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const inspection = await openInspection(database.ownerUrl);
  onTestFinished(() => inspection.close());
  const migrations = knex({ client: "pg", connection: database.ownerUrl, pool: { min: 0, max: 1 } });
  onTestFinished(() => migrations.destroy());
  for (const migration of await knownMigrations()) {
    const sql = await readFile(new URL(`${migration}.sql`, MIGRATIONS_FOLDER), "utf8");
    await migrations.transaction((transaction) => runStatements(transaction, migration, sql));
    record(recorded, migration, await readCatalog(inspection));
  }
  await expect(printed(recorded)).toMatchFileSnapshot(fileURLToPath(CATALOG_FILE));
});

/** Records the objects that a migration created or changed, and removes those that it dropped. */
function record(recorded: Map<string, RecordedObject>, migration: string, catalog: Catalog): void {
  for (const name of recorded.keys()) if (!catalog.has(name)) recorded.delete(name);
  for (const [name, definition] of catalog)
    if (recorded.get(name)?.definition !== definition) recorded.set(name, { definition, migration });
}

function printed(recorded: ReadonlyMap<string, RecordedObject>): string {
  const objects = [...recorded];
  const sections = [...new Set(objects.map(([, { migration }]) => migration))].toSorted().map((migration) => {
    const lines = objects.filter(([, one]) => one.migration === migration);
    return `${migration}\n${lines
      .map(([name, { definition }]) => `  ${name} := ${definition}\n`)
      .toSorted()
      .join("")}`;
  });
  return sections.join("");
}
