import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { builtProgram } from "../support/built-program.js";
import { machineClock } from "../support/clock.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";

/** Marks a migration as not applied. */
const UNDONE = [
  "DELETE FROM schema_migrations WHERE name = '0033-practitioner-exclusion'",
  "DELETE FROM schema_compatibility WHERE migration = '0033-practitioner-exclusion'",
];
const REASON =
  /^constraint "appointments_practitioner_excl" of relation "appointments" does not exist \(migration 0033-practitioner-exclusion, statement 1 of 2: /;

let program: string;
let database: TestDatabase;

beforeAll(async () => {
  program = join(await builtProgram(), "dist/main.js");
});

beforeEach(async () => {
  database = await createTestDatabase();
  await execute(database.ownerUrl, ...UNDONE);
});

afterEach(() => database.drop());

test.each(
  ["migrate", "serve"].flatMap((name) => [
    [name, "json"],
    [name, "text"],
  ]),
)(
  "%s with a failing migration exits with 1 and one log line in %s: cause, migration and statement first",
  async (name, LOG_FORMAT) => {
    await execute(database.ownerUrl, "ALTER TABLE appointments DROP CONSTRAINT appointments_practitioner_excl");
    const { status, stdout, stderr } = await cupo([name], { LOG_FORMAT });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    const last = stdout.trimEnd().split("\n").at(-1) ?? "";
    const asText = { level: 60, msg: last.replace(/^.*FATAL: (.*) \{.*$/, "$1") };
    expect(LOG_FORMAT === "json" ? JSON.parse(last) : asText).toMatchObject({
      level: 60,
      msg: expect.stringMatching(REASON),
    });
    expect(stdout).not.toMatch(/EXCLUDE USING|frames/);
  },
);

test("migrate with a failing migration prints the reason to standard error if logging is off", async () => {
  await execute(database.ownerUrl, "ALTER TABLE appointments DROP CONSTRAINT appointments_practitioner_excl");
  const { status, stdout, stderr } = await cupo(["migrate"], { LOG_LEVEL: "silent" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(REASON);
});

test("migrate --despite-older migrates while an incompatible release is running; without the option it is refused", async () => {
  const old = new Client({ connectionString: database.url, application_name: "cupo-jobs 0014-desk" });
  await old.connect();
  const refused = await cupo(["migrate"]);
  expect(refused.status).toBe(1);
  expect(refused.stdout).toContain("migrate --despite-older");
  const migrated = await cupo(["migrate", "--despite-older"]);
  await old.end();
  expect(migrated.status).toBe(0);
  expect(migrated.stdout).toContain("migrating to 0033");
});

/** Runs the command line on the test's database until it exits, with only these settings. */
async function cupo(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const { url: DATABASE_URL, ownerUrl: MIGRATION_DATABASE_URL } = database;
  const env = { PATH: process.env["PATH"], ...machineClock, DATABASE_URL, MIGRATION_DATABASE_URL, ...settings };
  const run = promisify(execFile)(process.execPath, [program, ...args], { env });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return { status: run.child.exitCode, stdout, stderr };
}
