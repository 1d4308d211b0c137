import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examine } from "../../src/doctor/doctor.js";
import type { DoctorOptions } from "../../src/doctor/doctor-options.js";
import type { Check, Finding } from "../../src/doctor/finding.js";
import { keySetDocument, makeKey } from "../auth/token-fixtures.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

/** A healthy installation, which tests damage. */
export interface Installation {
  readonly database: TestDatabase;
  /** Its own folder. */
  readonly folder: string;
  /** The settings: a migration role, a service role and an issuer with a key file. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns the doctor's findings with these additional settings. An empty value removes a setting. */
  examine(environment?: Readonly<Record<string, string>>, ports?: Partial<DoctorOptions>): Promise<Finding[]>;
  remove(): Promise<void>;
}

/**
 * Creates a migrated database with an owner, and a key set. The doctor's clock is that of the database. The server of
 * the tests has synchronous_commit off, so the database switches it on.
 */
export async function createInstallation(): Promise<Installation> {
  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await execute(database.adminUrl, `ALTER DATABASE "${name}" SET synchronous_commit = on`);
  const folder = mkdtempSync(join(tmpdir(), "cupo-doctor-"));
  const keys = join(folder, "keys.json");
  writeFileSync(keys, keySetDocument(makeKey("ES256", "one").publicJwk));
  const environment = {
    DATABASE_URL: database.url,
    MIGRATION_DATABASE_URL: database.ownerUrl,
    CUPO_DATA_DIR: join(folder, "data"),
    PUBLIC_URL: "https://scheduling.example",
    AUTH_ISSUER: "https://issuer.example",
    AUTH_AUDIENCE: "https://scheduling.example",
    AUTH_JWKS_FILE: keys,
  };
  const ports = { now: await clockOf(database.url), freeBytes: async () => 2 ** 40, findEmbedded };
  return {
    database,
    folder,
    environment,
    examine: (changes = {}, others = {}) =>
      examine({ ...ports, environment: { ...environment, ...changes }, ...others }),
    async remove() {
      rmSync(folder, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** Returns the findings of one check, each as level and message. */
export function linesOf(findings: readonly Finding[], check: Check): string[] {
  return findings.filter((one) => one.check === check).map(({ level, says }) => `${level}: ${says}`);
}

function findEmbedded(): Promise<undefined> {
  throw new Error("DATABASE_URL is set, so the doctor must not look for an embedded server");
}

/** Returns a clock that starts with the time of a server and runs independently of the machine's clock. */
export async function clockOf(url: string, aheadMs = 0): Promise<() => number> {
  const [row] = await execute(url, "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms");
  const since = performance.now();
  return () => Number(row?.["ms"]) + aheadMs + performance.now() - since;
}
