import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examine } from "../../src/doctor/doctor.js";
import type { DoctorOptions } from "../../src/doctor/doctor-options.js";
import type { Check, Finding } from "../../src/doctor/finding.js";
import { keySetDocument, makeKey } from "../auth/token-workshop.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

/** An installation in which everything is as it should be, until a test makes something of it wrong. */
export interface Patient {
  readonly database: TestDatabase;
  /** A folder of its own. */
  readonly folder: string;
  /** The settings: an owner, a service, an issuer whose keys are in a file. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the doctor finds, with these settings on top; an empty one is left out. */
  examine(environment?: Readonly<Record<string, string>>, ports?: Partial<DoctorOptions>): Promise<Finding[]>;
  remove(): Promise<void>;
}

/** Sets up a database, migrated and with an owner, and a key set; the clock is the database's. */
export async function admitPatient(): Promise<Patient> {
  const database = await createTestDatabase();
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

/** The lines of one check, each as its level and what it says. */
export function told(findings: readonly Finding[], check: Check): string[] {
  return findings.filter((one) => one.check === check).map(({ level, says }) => `${level}: ${says}`);
}

function findEmbedded(): Promise<undefined> {
  throw new Error("there is a DATABASE_URL, so nobody looks for an embedded server");
}

/** The clock of a server, as it goes on from here: the machine's may be moved away from it while tests run. */
export async function clockOf(url: string, aheadMs = 0): Promise<() => number> {
  const [row] = await execute(url, "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms");
  const since = performance.now();
  return () => Number(row?.["ms"]) + aheadMs + performance.now() - since;
}
