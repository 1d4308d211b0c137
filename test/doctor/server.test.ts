import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { judgeVersion } from "../../src/doctor/server-findings.js";
import { openInspection } from "../../src/postgres/inspection/open-inspection.js";
import { execute, withDatabase } from "../support/database.js";
import { isPgbouncerThere, startPgbouncer } from "../support/pgbouncer.js";
import { admitPatient, clockOf, type Patient, told } from "./patient.js";

const reason = isPgbouncerThere ? "" : " (PgBouncer is not installed: Debian's package pgbouncer)";

let patient: Patient;

beforeEach(async () => {
  patient = await admitPatient();
});

afterEach(() => patient.remove());

describe("of a server that does not let the service in, the doctor says why", () => {
  test.each([
    ["nobody listens", (url: string) => url.replace(/:\d+\//, ":1/"), /ECONNREFUSED.*See that the server runs/],
    ["there is no such database", (url: string) => withDatabase(url, "nowhere"), /"nowhere" does not exist.*Make the/],
    [
      "the password is another",
      (url: string) => url.replace(/:[^:@]+@/, ":wrong@"),
      /password.*put its password right/,
    ],
  ])("%s", async (_, urlOf, says) => {
    const findings = await patient.examine({ DATABASE_URL: urlOf(patient.database.url) });
    const [database, ...others] = findings.filter(({ check }) => !["configuration", "issuer"].includes(check));
    expect(database).toMatchObject({ check: "database", level: "failure" });
    expect(`${database?.says} ${database?.advice}`).toMatch(says);
    expect(others).toEqual([]);
  });

  test("no connection is left", async () => {
    const { pathname } = new URL(patient.database.url);
    await execute(patient.database.adminUrl, `ALTER DATABASE "${pathname.slice(1)}" CONNECTION LIMIT 0`);
    const finding = (await patient.examine()).find(({ check }) => check === "database");
    expect(finding).toMatchObject({ level: "failure", advice: expect.stringContaining("max_connections") });
  });
});

describe("of the server", () => {
  test("a version before 15 is a failure", () => {
    expect(judgeVersion({ versionNumber: 140_012, version: "14.12" })).toMatchObject({ level: "failure" });
    expect(judgeVersion({ versionNumber: 150_000, version: "15.0" })).toMatchObject({ level: "ok" });
  });

  test("that it takes no writes is a failure", async () => {
    const { pathname } = new URL(patient.database.url);
    const set = `ALTER DATABASE "${pathname.slice(1)}" SET default_transaction_read_only = on`;
    await execute(patient.database.ownerUrl, set);
    expect(told(await patient.examine(), "database")).toEqual([
      expect.stringMatching(/^ok: /),
      expect.stringMatching(/^failure: the database takes no writes/),
    ]);
  });

  test.each([
    [0, /^ok: the database's clock is 0\.\d s/],
    [-3_000, /^warning: the database's clock is [23]\.\d s ahead of/],
    [7_000, /^failure: the database's clock is [67]\.\d s behind/],
  ])("a clock of this machine that is %d ms ahead of its own is judged", async (aheadMs, says) => {
    const findings = await patient.examine({}, { now: await clockOf(patient.database.url, aheadMs) });
    expect(told(findings, "clock")).toEqual([expect.stringMatching(says)]);
  });

  test("connections for all processes, and for those of another release beside them, are counted", async () => {
    const [row] = await execute(patient.database.adminUrl, "SHOW max_connections");
    const enough = Math.floor((Number(row?.["max_connections"]) - 13) / 15);
    const connections = async (replicas: number) => told(await patient.examine({}, { replicas }), "connections");
    expect(await connections(1)).toEqual([expect.stringMatching(/^ok: 1 process of 15 connections need 15; /)]);
    expect(await connections(enough)).toEqual([expect.stringMatching(/^warning: .*too few for both releases/)]);
    expect(await connections(enough + 1)).toEqual([expect.stringMatching(/^failure: \d+ processes of 15/)]);
  });

  test("processes that are connected to it now count, or REPLICAS, where nobody says how many there are", async () => {
    const probe = new URL(patient.database.url);
    probe.searchParams.set("application_name", "cupo-readiness");
    const connected = [new Client(probe.href), new Client(probe.href)];
    for (const client of connected) await client.connect();
    const findings = await patient.examine();
    for (const client of connected) await client.end();
    expect(told(findings, "connections")).toEqual([expect.stringMatching(/2 processes of 15/)]);
    const shared = await patient.examine({ RATE_LIMIT_STORE: "postgres", REPLICAS: "3" });
    expect(told(shared, "connections")).toEqual([expect.stringMatching(/3 processes of 16 connections need 48/)]);
  });

  test("nothing can be changed by the connection that the doctor has", async () => {
    const inspection = await openInspection(patient.database.ownerUrl);
    onTestFinished(() => inspection.close());
    await expect(inspection.rows("CREATE TABLE mine ()")).rejects.toMatchObject({ code: "25006" });
    expect(await inspection.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(!isPgbouncerThere)(`of a pooler${reason}`, () => {
  test("in transaction mode what does not pass it is said, and the parameter that spares it", async () => {
    const { url, ownerUrl } = patient.database;
    const pooler = await startPgbouncer([url, ownerUrl]);
    onTestFinished(() => pooler.stop());
    const addresses = { DATABASE_URL: pooler.urlOf(url), MIGRATION_DATABASE_URL: pooler.urlOf(ownerUrl) };
    const findings = await patient.examine(addresses);
    expect(told(findings, "pooler")).toEqual([expect.stringMatching(/^warning: one in transaction mode is noticed/)]);
    expect(findings.filter(({ level }) => level === "failure")).toEqual([]);
    const spared = { ...addresses, DATABASE_URL: `${addresses.DATABASE_URL}?prepared_statements=false` };
    expect(told(await patient.examine(spared), "pooler")).toEqual([expect.stringMatching(/^ok: one in transaction/)]);
  });
});
