import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { createInstallation, type Installation, linesOf } from "../doctor/installation.js";
import { withoutCitus } from "../support/citus.js";
import { createEmptyDatabase, execute } from "../support/database.js";

const LONG_MS = 300_000;

describe.skipIf(withoutCitus !== "")(`the doctor on a cluster${withoutCitus}`, () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await createInstallation();
  }, LONG_MS);

  afterEach(() => installation.remove());

  test(
    "accepts one that was set up by the documented steps",
    async () => {
      const findings = await installation.examine();
      expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
      expect(linesOf(findings, "citus")).toEqual([
        expect.stringMatching(/^ok: all \d{2} tables of tenants are distributed over 2 servers$/),
      ]);
    },
    LONG_MS,
  );

  test(
    "reports that the tenant of a call does not reach the workers",
    async () => {
      const { adminUrl } = installation.database;
      const name = new URL(adminUrl).pathname.slice(1);
      await execute(adminUrl, `ALTER DATABASE ${name} RESET citus.propagate_set_commands`);
      expect(linesOf(await installation.examine(), "citus")).toEqual([
        "failure: citus.propagate_set_commands is not 'local': workers show no rows and reject writes",
      ]);
    },
    LONG_MS,
  );

  test(
    "reports a table of tenants that is not distributed, as of a new release",
    async () => {
      await execute(installation.database.ownerUrl, "CREATE TABLE specialties (tenant_id uuid, id uuid)");
      expect(linesOf(await installation.examine(), "citus")).toEqual([
        expect.stringMatching(
          /^failure: \d{2} tables are distributed, but these tables of tenants are not: specialties$/,
        ),
      ]);
    },
    LONG_MS,
  );

  test(
    "warns before the tables are distributed",
    async () => {
      const database = await createEmptyDatabase();
      await execute(database.adminUrl, "CREATE EXTENSION citus", "CREATE EXTENSION btree_gist");
      await migrate({ url: database.ownerUrl, serviceUrl: database.url });
      const settings = { DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.ownerUrl };
      const findings = await installation.examine(settings);
      await database.drop();
      expect(findings.filter(({ level }) => level !== "ok")).toEqual([
        expect.objectContaining({ check: "citus", level: "warning" }),
      ]);
    },
    LONG_MS,
  );
});
