import { randomBytes } from "node:crypto";
import { Client, DatabaseError } from "pg";
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { explainConnectionFailure } from "../../src/doctor/connection-failure.js";
import { judgeVersion } from "../../src/doctor/server-findings.js";
import { openInspection } from "../../src/postgres/inspection/open-inspection.js";
import { execute, withDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { isPgbouncerThere, startPgbouncer } from "../support/pgbouncer.js";
import { clockOf, createInstallation, type Installation, linesOf } from "./installation.js";

const reason = isPgbouncerThere ? "" : " (PgBouncer is not installed: Debian's package pgbouncer)";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

describe("the doctor reports why the service cannot connect:", () => {
  test.each<[string, (url: string) => string, RegExp]>([
    [
      "nothing listens at its address",
      (url) => url.replace(/:\d+\//, ":1/"),
      /^DATABASE_URL: nothing listens at 127\.0\.0\.1:1, .*ECONNREFUSED.*Check that the server is running/,
    ],
    [
      "the host does not exist",
      (url) => url.replace(/@[^/]+\//, "@nowhere.invalid/"),
      /^DATABASE_URL: (?:the host "nowhere\.invalid" does not exist|no DNS server answers for the host "nowhere\.invalid")/,
    ],
    [
      "the database does not exist",
      (url) => withDatabase(url, "nowhere"),
      /^DATABASE_URL: \S+ has no database "nowhere" .*3D000.*create the database/,
    ],
    [
      "the password is wrong",
      (url) => url.replace(/:[^:@]+@/, ":wr0ng@"),
      /^DATABASE_URL: \S+ rejects the password of the role "\w+", .*28P01.*Correct the password in the setting/,
    ],
    [
      "the password is missing",
      (url) => url.replace(/:[^:@/]+@/, "@"),
      /^DATABASE_URL: \S+ requires a password for the role "\w+", but the setting has none/,
    ],
    [
      "the server does not support TLS",
      (url) => `${url}?sslmode=require`,
      /^DATABASE_URL: \S+ does not support TLS, which sslmode requires/,
    ],
  ])("%s", async (_, urlOf, says) => {
    const findings = await installation.examine({ DATABASE_URL: urlOf(installation.database.url) });
    const [database, ...others] = findings.filter(({ check }) => !["configuration", "issuer"].includes(check));
    expect(database).toMatchObject({ check: "database", level: "failure" });
    expect(`${database?.says} ${database?.advice}`).toMatch(says);
    expect(JSON.stringify(findings)).not.toContain("wr0ng");
    expect(others).toEqual([]);
  });

  test("the role may not log in", async () => {
    const { adminUrl } = inject("testServer");
    const url = new URL(installation.database.url);
    url.username = `cupo_closed_${randomBytes(4).toString("hex")}`;
    url.password = "secret";
    await execute(adminUrl, `CREATE ROLE ${url.username} NOLOGIN PASSWORD 'secret'`);
    onTestFinished(async () => void (await execute(adminUrl, `DROP ROLE ${url.username}`)));
    const finding = (await installation.examine({ DATABASE_URL: url.href })).find(({ check }) => check === "database");
    expect(finding?.says).toMatch(/^DATABASE_URL: \S+ rejects the role "cupo_closed_\w+": .*28000/);
    expect(finding?.advice).toMatch(/ALTER ROLE "cupo_closed_\w+" LOGIN$/);
  });

  test.each(["no pg_hba.conf entry for", "pg_hba.conf rejects connection for"])("%s its address", (text) => {
    const error = new DatabaseError(`${text} host "10.0.0.1", user "cupo", no encryption`, 80, "error");
    error.code = "28000";
    expect(explainConnectionFailure(error, new URL("postgres://cupo:s3cret@db:5432/clinics"))).toMatchObject({
      says: expect.stringMatching(
        /^pg_hba\.conf of db:5432 does not allow the role "cupo" to use the database "clinics" from this machine/,
      ),
      advice: expect.stringContaining("before entries that reject it, and reload the server"),
    });
  });

  test("no connection is left", async () => {
    const { pathname } = new URL(installation.database.url);
    await execute(installation.database.adminUrl, `ALTER DATABASE "${pathname.slice(1)}" CONNECTION LIMIT 0`);
    const finding = (await installation.examine()).find(({ check }) => check === "database");
    expect(finding).toMatchObject({ level: "failure", advice: expect.stringContaining("max_connections") });
  });
});

describe("the check of the server", () => {
  test("fails for a version before 15", () => {
    expect(judgeVersion({ versionNumber: 140_012, version: "14.12" })).toMatchObject({ level: "failure" });
    expect(judgeVersion({ versionNumber: 150_000, version: "15.0" })).toMatchObject({ level: "ok" });
  });

  test("fails if it is read-only", async () => {
    const { pathname } = new URL(installation.database.url);
    const set = `ALTER DATABASE "${pathname.slice(1)}" SET default_transaction_read_only = on`;
    await execute(installation.database.ownerUrl, set);
    expect(linesOf(await installation.examine(), "database")).toEqual([
      expect.stringMatching(/^ok: /),
      expect.stringMatching(/^failure: the database is read-only/),
    ]);
  });

  test.each([
    ["DateStyle = 'German'", "failure", /^DateStyle is "German, DMY", so the service cannot read dates/, "ISO"],
    ["row_security = off", "failure", /^row_security is "off", so every statement on a table .* fails/, "on"],
    [
      "session_replication_role = replica",
      "failure",
      /^session_replication_role is "replica", so .* foreign/,
      "origin",
    ],
    ["statement_timeout = '1ms'", "failure", /^statement_timeout is "1", so statements outside of calls fail/, "0, or"],
    ["synchronous_commit = off", "warning", /^synchronous_commit is "off", so a crash .* can lose changes/, "on"],
  ])("reports %s of the service's sessions", async (setting, level, says, fit) => {
    const { pathname } = new URL(installation.database.url);
    await execute(installation.database.adminUrl, `ALTER DATABASE "${pathname.slice(1)}" SET ${setting}`);
    const findings = await installation.examine();
    const advice = expect.stringMatching(`^Set it to ${fit}.* where it was set: ALTER DATABASE`);
    expect(findings.filter(({ level: one }) => one !== "ok")).toEqual([
      { level, check: "database", says: expect.stringMatching(says), advice },
    ]);
  });

  test("does not compare databases that the roles cannot identify", async () => {
    await execute(installation.database.adminUrl, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    const findings = await installation.examine();
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([
      {
        level: "warning",
        check: "owner",
        says: expect.stringMatching(/^MIGRATION_DATABASE_URL was not checked: a role may not call pg_control_system/),
        advice: expect.stringContaining("GRANT EXECUTE ON FUNCTION pg_control_system() TO"),
      },
    ]);
  });

  test.each([
    [0, /^ok: the database's clock is 0\.\d s/],
    [-3_000, /^warning: the database's clock is [23]\.\d s ahead of/],
    [7_000, /^failure: the database's clock is [67]\.\d s behind/],
  ])("rates a clock of this machine that is %d ms ahead of the server", async (aheadMs, says) => {
    const findings = await installation.examine({}, { now: await clockOf(installation.database.url, aheadMs) });
    expect(linesOf(findings, "clock")).toEqual([expect.stringMatching(says)]);
  });

  test("counts the connections of all processes, and of a second release during a rollout", async () => {
    const [row] = await execute(installation.database.adminUrl, "SHOW max_connections");
    const enough = Math.floor((Number(row?.["max_connections"]) - 3) / 16);
    const connections = async (replicas: number) =>
      linesOf(await installation.examine({}, { replicas }), "connections");
    expect(await connections(1)).toEqual([expect.stringMatching(/^ok: 1 process with 16 connections each need 16; /)]);
    expect(await connections(enough)).toEqual([expect.stringMatching(/^warning: .*too few for two releases/)]);
    expect(await connections(enough + 1)).toEqual([expect.stringMatching(/^failure: \d+ processes with 16/)]);
  });

  test("uses the processes that are connected, or REPLICAS, if no number is given", async () => {
    const probe = new URL(installation.database.url);
    probe.searchParams.set("application_name", "cupo-readiness");
    const connected = [new Client(probe.href), new Client(probe.href)];
    for (const client of connected) await client.connect();
    const findings = await installation.examine();
    for (const client of connected) await client.end();
    expect(linesOf(findings, "connections")).toEqual([expect.stringMatching(/2 processes with 16/)]);
    const shared = await installation.examine({ RATE_LIMIT_STORE: "postgres", REPLICAS: "3" });
    expect(linesOf(shared, "connections")).toEqual([
      expect.stringMatching(/3 processes with 17 connections each need 51/),
    ]);
  });

  test("fails if no connection is left for a second one", async () => {
    const { adminUrl } = inject("testServer");
    const name = new URL(installation.database.url).pathname.slice(1);
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND backend_type = 'client backend'`;
    await execute(adminUrl, `ALTER DATABASE "${name}" CONNECTION LIMIT 1`);
    await eventually(async () => (await execute(adminUrl, open)).length === 0);
    const findings = await installation.examine();
    expect(linesOf(findings, "connections")).toEqual([
      expect.stringMatching(/^failure: DATABASE_URL: \S+ has no free connection for the role "\w+" .*53300/),
      expect.stringMatching(/^failure: 1 process with 16 connections each need 16; the role may open 1$/),
    ]);
  });

  test("uses a connection that cannot change anything", async () => {
    const inspection = await openInspection(installation.database.ownerUrl);
    onTestFinished(() => inspection.close());
    await expect(inspection.rows("CREATE TABLE mine ()")).rejects.toMatchObject({ code: "25006" });
    expect(await inspection.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(!isPgbouncerThere)(`the check of the pooler${reason}`, () => {
  test("reports what transaction mode does not support, and the URL parameter that avoids it", async () => {
    const { url, ownerUrl } = installation.database;
    const pooler = await startPgbouncer([url, ownerUrl]);
    onTestFinished(() => pooler.stop());
    const addresses = { DATABASE_URL: pooler.urlOf(url), MIGRATION_DATABASE_URL: pooler.urlOf(ownerUrl) };
    const findings = await installation.examine(addresses);
    expect(linesOf(findings, "pooler")).toEqual([expect.stringMatching(/^warning: one in transaction mode detected/)]);
    expect(findings.filter(({ level }) => level === "failure")).toEqual([]);
    const spared = { ...addresses, DATABASE_URL: `${addresses.DATABASE_URL}?prepared_statements=false` };
    expect(linesOf(await installation.examine(spared), "pooler")).toEqual([
      expect.stringMatching(/^ok: one in transaction/),
    ]);
  });
});
