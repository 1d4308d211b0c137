import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isHealthy, jsonOfFindings, printFindings } from "../../src/doctor/print-findings.js";
import { findEmbeddedPostgres } from "../../src/embedded-postgres/find-embedded-postgres.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { answerWith, startKeyServer } from "../auth/key-server.js";
import { keySetDocument, makeKey } from "../auth/token-workshop.js";
import { execute } from "../support/database.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";
import { admitPatient, type Patient, told } from "./patient.js";

const NO_DATABASE = { DATABASE_URL: "", MIGRATION_DATABASE_URL: "" };
const NO_ISSUER = { AUTH_ISSUER: "", AUTH_AUDIENCE: "", AUTH_JWKS_FILE: "", PUBLIC_URL: "" };
const tls = fileURLToPath(new URL("../support/tls/", import.meta.url));

let patient: Patient;

beforeEach(async () => {
  patient = await admitPatient();
});

afterEach(() => patient.remove());

describe("of an installation that is as it should be", () => {
  test("every check is ok, in one line each, also for programs", async () => {
    const findings = await patient.examine({ TLS_CERT_FILE: `${tls}cert.pem`, TLS_KEY_FILE: `${tls}key.pem` });
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      "configuration",
      "tls",
      "issuer",
      "database",
      "version",
      "clock",
      "migrations",
      "role",
      "row security",
      "owner",
      "pooler",
      "connections",
      "jobs",
      "partitions",
    ]);
    expect(printFindings(findings).trimEnd().split("\n")).toHaveLength(findings.length);
    expect(JSON.parse(jsonOfFindings(findings))).toEqual({ ok: true, findings });
  });
});

describe("of the configuration", () => {
  test("each setting that is wrong is named with what it held and takes, and secrets are not shown", async () => {
    const findings = await patient.examine({ PORT: "http", DATABASE_URL: "mysql://cupo:s3cret@db/cupo" });
    expect(told(findings, "configuration")).toEqual([
      'failure: PORT held "http"; it takes a whole number from 0 to 65535',
      expect.stringMatching(/^failure: DATABASE_URL held a value that is not shown here; it takes a URL such as/),
    ]);
    expect(isHealthy(findings)).toBe(false);
    expect(printFindings(findings)).not.toContain("s3cret");
  });

  test("a key that is not that of the certificate, and a certificate that ends, are found", async () => {
    const swapped = { TLS_CERT_FILE: `${tls}key.pem`, TLS_KEY_FILE: `${tls}key.pem` };
    expect(told(await patient.examine(swapped), "tls")).toEqual([expect.stringContaining("failure: TLS_CERT_FILE or")]);
    const files = { TLS_CERT_FILE: `${tls}cert.pem`, TLS_KEY_FILE: `${tls}key.pem` };
    const at = (instant: string) => ({ now: () => Date.parse(instant) });
    const lastDay = await patient.examine(files, at("2119-12-31T00:00:00Z"));
    expect(told(lastDay, "tls")).toEqual([expect.stringMatching(/^warning: the certificate is valid from/)]);
    const after = await patient.examine(files, at("2120-01-02T00:00:00Z"));
    expect(told(after, "tls")).toEqual([expect.stringMatching(/^failure: .*, not now$/)]);
  });
});

describe("of the issuer", () => {
  test("that its keys are published is seen where they are", async () => {
    const server = await startKeyServer(keySetDocument(makeKey("RS256", "one").publicJwk));
    onTestFinished(() => server.close());
    const settings = { AUTH_JWKS_FILE: "", AUTH_JWKS_URL: server.url };
    expect(told(await patient.examine(settings), "issuer")).toEqual([
      `ok: keys that can verify access tokens in ${server.url}: 1`,
    ]);
    server.answer = answerWith("", 500);
    expect(told(await patient.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ cannot be had: the answer is 500/),
    ]);
    server.answer = answerWith(JSON.stringify({ keys: [] }));
    expect(told(await patient.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ has no key/),
    ]);
  });

  test("that nobody answers there is a failure, with the reason", async () => {
    const settings = { AUTH_JWKS_FILE: "", AUTH_JWKS_URL: "http://127.0.0.1:1/keys" };
    expect(told(await patient.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ cannot be had: .+/),
    ]);
  });

  test("that it is the development issuer is a warning", async () => {
    const findings = await patient.examine(NO_ISSUER);
    expect(told(findings, "issuer")).toEqual([expect.stringMatching(/^warning: the development issuer is in use/)]);
    expect(isHealthy(findings)).toBe(true);
  });
});

describe("of the embedded server", () => {
  test("that it does not run is said, and it is neither made nor started", async () => {
    const findings = await patient.examine(NO_DATABASE, { findEmbedded: findEmbeddedPostgres });
    expect(told(findings, "database")).toEqual([
      expect.stringMatching(/^warning: the embedded PostgreSQL of \S+ does not run/),
    ]);
    expect(existsSync(join(patient.folder, "data"))).toBe(false);
  });

  test("where it runs, its database is looked at as any other", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => removeFolder(folder));
    const server = await startEmbeddedPostgres({ dataDir: folder, settings: { fsync: "off" } });
    onTestFinished(() => server.stop());
    expect(await findEmbeddedPostgres(folder)).toMatchObject({ url: server.url, ownerUrl: server.ownerUrl });
    const settings = { ...NO_DATABASE, CUPO_DATA_DIR: folder };
    const findings = await patient.examine(settings, { findEmbedded: findEmbeddedPostgres });
    expect(told(findings, "database")).toEqual([expect.stringMatching(/^ok: 127\.0\.0\.1:\d+ lets the service in/)]);
    expect(told(findings, "migrations")).toEqual([
      expect.stringMatching(/^failure: not applied yet: \d+ from 0001-foundation to /),
      expect.stringMatching(/^failure: the job queue's own/),
    ]);
    await server.stop();
    expect(await findEmbeddedPostgres(folder)).toBeUndefined();
  });

  test.each([
    [2 ** 40, /^ok: /],
    [500 * 2 ** 20, /^warning: 500 MiB are free/],
    [50 * 2 ** 20, /^failure: 50 MiB are free/],
  ])("%d bytes that are free where its data is are judged", async (free, says) => {
    const ports = { findEmbedded: findEmbeddedPostgres, freeBytes: async () => free };
    expect(told(await patient.examine(NO_DATABASE, ports), "disk")).toEqual([expect.stringMatching(says)]);
  });
});

describe("of the jobs", () => {
  const add = (runAt: string) =>
    execute(
      patient.database.ownerUrl,
      `SELECT graphile_worker.add_job('anything', '{}'::json, run_at => now() - interval '${runAt}')`,
    );

  test.each([
    ["10 minutes", /^warning: queued: 1, given up: 0, longest wait: 60\d s$/],
    ["1 hour", /^failure: queued: 1, given up: 0, longest wait: 360\d s$/],
  ])("one that could have been done %s ago is behind", async (runAt, says) => {
    await add(runAt);
    expect(told(await patient.examine(), "jobs")).toEqual([expect.stringMatching(says)]);
  });

  test("one that failed as often as it may is given up", async () => {
    await add("1 hour");
    await execute(patient.database.ownerUrl, "UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
    expect(told(await patient.examine(), "jobs")).toEqual(["warning: queued: 1, given up: 1, longest wait: 0 s"]);
  });
});
