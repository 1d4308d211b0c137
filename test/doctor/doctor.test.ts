import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isHealthy, jsonOfFindings, printFindings } from "../../src/doctor/print-findings.js";
import { findEmbeddedPostgres } from "../../src/embedded-postgres/find-embedded-postgres.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { answerWith, startKeyServer } from "../auth/key-server.js";
import { keySetDocument, makeKey } from "../auth/token-fixtures.js";
import { execute } from "../support/database.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";
import { createInstallation, type Installation, linesOf } from "./installation.js";

const NO_DATABASE = { DATABASE_URL: "", MIGRATION_DATABASE_URL: "" };
const NO_ISSUER = { AUTH_ISSUER: "", AUTH_AUDIENCE: "", AUTH_JWKS_FILE: "", PUBLIC_URL: "" };
const tls = fileURLToPath(new URL("../support/tls/", import.meta.url));

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

describe("for a healthy installation", () => {
  test("every check is ok, with one line each and as JSON", async () => {
    const findings = await installation.examine({ TLS_CERT_FILE: `${tls}cert.pem`, TLS_KEY_FILE: `${tls}key.pem` });
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      "configuration",
      "tls",
      "issuer",
      "database",
      "version",
      "clock",
      "migrations",
      "schema",
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

describe("the check of the configuration", () => {
  test("reports each invalid setting with its value and the valid ones, but without secrets", async () => {
    const findings = await installation.examine({ PORT: "http", DATABASE_URL: "mysql://cupo:s3cret@db/cupo" });
    expect(linesOf(findings, "configuration")).toEqual([
      'failure: PORT is "http"; it must be a whole number from 0 to 65535',
      expect.stringMatching(
        /^failure: DATABASE_URL is invalid \(its value is secret and not shown\); it must be a URL such as/,
      ),
    ]);
    expect(isHealthy(findings)).toBe(false);
    expect(printFindings(findings)).not.toContain("s3cret");
  });

  test("reports a key that does not fit the certificate, and a certificate that expires", async () => {
    const swapped = { TLS_CERT_FILE: `${tls}key.pem`, TLS_KEY_FILE: `${tls}key.pem` };
    expect(linesOf(await installation.examine(swapped), "tls")).toEqual([
      expect.stringContaining("failure: TLS_CERT_FILE or"),
    ]);
    const files = { TLS_CERT_FILE: `${tls}cert.pem`, TLS_KEY_FILE: `${tls}key.pem` };
    const at = (instant: string) => ({ now: () => Date.parse(instant) });
    const lastDay = await installation.examine(files, at("2119-12-31T00:00:00Z"));
    expect(linesOf(lastDay, "tls")).toEqual([expect.stringMatching(/^warning: the certificate is valid from/)]);
    const after = await installation.examine(files, at("2120-01-02T00:00:00Z"));
    expect(linesOf(after, "tls")).toEqual([expect.stringMatching(/^failure: .*, but not now$/)]);
  });
});

describe("the check of the issuer", () => {
  test("reads the key set from its URL", async () => {
    const server = await startKeyServer(keySetDocument(makeKey("RS256", "one").publicJwk));
    onTestFinished(() => server.close());
    const settings = { AUTH_JWKS_FILE: "", AUTH_JWKS_URL: server.url };
    expect(linesOf(await installation.examine(settings), "issuer")).toEqual([
      `ok: usable keys for access tokens in ${server.url}: 1`,
    ]);
    server.answer = answerWith("", 500);
    expect(linesOf(await installation.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ cannot be loaded: the response has status 500/),
    ]);
    server.answer = answerWith(JSON.stringify({ keys: [] }));
    expect(linesOf(await installation.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ has no key/),
    ]);
  });

  test("fails with the reason if the URL cannot be reached", async () => {
    const settings = { AUTH_JWKS_FILE: "", AUTH_JWKS_URL: "http://127.0.0.1:1/keys" };
    expect(linesOf(await installation.examine(settings), "issuer")).toEqual([
      expect.stringMatching(/^failure: the key set \S+ cannot be loaded: .+/),
    ]);
  });

  test("warns about the development issuer", async () => {
    const findings = await installation.examine(NO_ISSUER);
    expect(linesOf(findings, "issuer")).toEqual([expect.stringMatching(/^warning: the development issuer is in use/)]);
    expect(isHealthy(findings)).toBe(true);
  });
});

describe("the check of the embedded server", () => {
  test("reports that it is not running, and neither creates nor starts it", async () => {
    const findings = await installation.examine(NO_DATABASE, { findEmbedded: findEmbeddedPostgres });
    expect(linesOf(findings, "database")).toEqual([
      expect.stringMatching(/^warning: the embedded PostgreSQL of \S+ is not running, so it was not checked/),
    ]);
    expect(existsSync(join(installation.folder, "data"))).toBe(false);
  });

  test("checks its database like any other if it is running", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => removeFolder(folder));
    const server = await startEmbeddedPostgres({ dataDir: folder, settings: { fsync: "off" } });
    onTestFinished(() => server.stop());
    expect(await findEmbeddedPostgres(folder)).toMatchObject({ url: server.url, ownerUrl: server.ownerUrl });
    const settings = { ...NO_DATABASE, CUPO_DATA_DIR: folder };
    const findings = await installation.examine(settings, { findEmbedded: findEmbeddedPostgres });
    expect(linesOf(findings, "database")).toEqual([
      expect.stringMatching(/^ok: 127\.0\.0\.1:\d+ accepts the service; the database size is/),
    ]);
    expect(linesOf(findings, "migrations")).toEqual([
      expect.stringMatching(/^failure: not applied yet: \d+ from 0001-foundation to /),
      expect.stringMatching(/^failure: the job queue's migrations/),
    ]);
    await server.stop();
    expect(await findEmbeddedPostgres(folder)).toBeUndefined();
  });

  test.each([
    [2 ** 40, /^ok: /],
    [500 * 2 ** 20, /^warning: 500 MiB are free/],
    [50 * 2 ** 20, /^failure: 50 MiB are free/],
  ])("rates %d bytes of free disk space", async (free, says) => {
    const ports = { findEmbedded: findEmbeddedPostgres, freeBytes: async () => free };
    expect(linesOf(await installation.examine(NO_DATABASE, ports), "disk")).toEqual([expect.stringMatching(says)]);
  });
});

describe("the check of the jobs", () => {
  const add = (runAt: string) =>
    execute(
      installation.database.ownerUrl,
      `SELECT graphile_worker.add_job('anything', '{}'::json, run_at => now() - interval '${runAt}')`,
    );

  test.each([
    ["10 minutes", /^warning: queued: 1, given up: 0, longest wait: 60\d s$/],
    ["1 hour", /^failure: queued: 1, given up: 0, longest wait: 360\d s$/],
  ])("reports a backlog if a job has been due for %s", async (runAt, says) => {
    await add(runAt);
    expect(linesOf(await installation.examine(), "jobs")).toEqual([expect.stringMatching(says)]);
  });

  test("reports a job that has used all its attempts", async () => {
    await add("1 hour");
    await execute(installation.database.ownerUrl, "UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
    expect(linesOf(await installation.examine(), "jobs")).toEqual([
      "warning: queued: 1, given up: 1, longest wait: 0 s",
    ]);
  });
});
