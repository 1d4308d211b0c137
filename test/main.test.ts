import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDevelopmentIssuer } from "../src/auth/development-issuer.js";
import { createTokenVerifier, defaultClaimNames, defaultTokenTypes } from "../src/auth/token-verifier.js";
import { DEMO_TENANT_ID } from "../src/demo/large-clinic.js";
import { scopesOf } from "../src/scopes.js";
import { servedServices } from "../src/services/services.js";
import { builtProgram } from "./support/built-program.js";
import { machineClock } from "./support/clock.js";
import { createTestDatabase, execute, type TestDatabase } from "./support/database.js";
import { eventually } from "./support/eventually.js";
import { PATIENT } from "./support/patience.js";
import { firstLines, followed, lineWith } from "./support/process-lines.js";

const tenantId = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a";
const organizationId = "1b9a7c52-3d5e-4f60-8a71-92b3c4d5e6f7";
const companyId = "2c8b6d43-4e6f-4071-9b82-a3c4d5e6f708";

/** A program of every Debian that runs a command on its own terminal. */
const SCRIPT = "/usr/bin/script";
/** A device of Linux on which each write fails. */
const FULL = "/dev/full";
const terminal = existsSync(SCRIPT) ? "" : " (there is no /usr/bin/script: Debian's package bsdutils)";

/** The folder of the program. It is built for the tests, because dist may be outdated. */
let output: string;
let dataDir: string;

beforeAll(async () => {
  output = join(await builtProgram(), "dist");
});

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "cupo-main-"));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe("token", () => {
  test("prints a token of the demo tenant with every scope, and nothing else", async () => {
    const { status, stdout, stderr } = await cupo(["token"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const principal = await verified(stdout.trim());
    expect(principal).toMatchObject({ clientId: "demo", tenantId: DEMO_TENANT_ID, organizationId: undefined });
    expect([...principal.scopes].toSorted()).toEqual(scopesOf(servedServices));
    const { iat = 0, exp = 0 } = decodeJwt(stdout);
    expect(exp - iat).toBe(3_600);
    expect(await readdir(dataDir)).toEqual(["development-key.json"]);
  });

  test("prints the token that its flags describe, with UUIDs in lower case", async () => {
    const { status, stdout } = await cupo(
      [
        "token",
        ["--tenant", tenantId.toUpperCase()],
        ["--scope", "patients:write waitlist:write"],
        ["--client", "front desk"],
        ["--organization", organizationId],
        ["--company", companyId],
        ["--expires", "60"],
      ].flat(),
    );
    expect(status).toBe(0);
    expect(decodeProtectedHeader(stdout)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(stdout);
    expect(exp - iat).toBe(60);
    expect(claims).toMatchObject({
      client_id: "front desk",
      tenant_id: tenantId,
      scope: "patients:write waitlist:write",
      organization_id: organizationId,
      company_id: companyId,
    });
  });

  async function verified(token: string) {
    const { issuer, audience, keySet } = await openDevelopmentIssuer({ dataDir, now: Date.now });
    const claims = defaultClaimNames;
    const verify = createTokenVerifier({
      issuer,
      audience,
      keySet,
      claims,
      tokenTypes: defaultTokenTypes,
      now: Date.now,
    });
    return verify(`Bearer ${token}`);
  }
});

describe("a command whose output", () => {
  test("has no reader any more, as after head, ends without an error", async () => {
    const command = spawn(process.execPath, [join(output, "main.js"), "operations"], options({}));
    command.stdout.destroy();
    const [stderr, [status]] = await Promise.all([text(command.stderr), once(command, "exit")]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test.skipIf(!existsSync(FULL))(`is on a full disk (${FULL}), exits with 1 and the reason`, async () => {
    const command = ["-c", `exec "$0" "$1" token > ${FULL}`, process.execPath, join(output, "main.js")];
    const failed = promisify(execFile)("/bin/sh", command, options({}));
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: "ENOSPC: no space left on device, write\n" });
  });
});

describe("an invalid command line exits with 1 and one sentence", () => {
  test.each([
    { args: ["token", "--tenant", "42"], says: "option '--tenant <id>' argument '42' is invalid. It must be a UUID." },
    { args: ["token", "--admin"], says: "unknown option '--admin'" },
  ])("$args", async ({ args, says }) => {
    const { status, stdout, stderr } = await cupo(args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n/);
    expect(stderr).toContain(says);
  });

  test.each(["serve", "token"])("%s with invalid settings lists each of them without a stack", async (name) => {
    const { status, stdout, stderr } = await cupo([name], {
      PORT: "http",
      DATABASE_URL: "mysql://cupo:s3cret@db/cupo",
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toBe(
      `The configuration is wrong:
  - PORT is "http"; it must be a whole number from 0 to 65535
  - DATABASE_URL is invalid (its value is secret and not shown); it must be a URL such as postgres://user:password@host:5432/database
`,
    );
  });
});

/**
 * Switches libfaketime off. The doctor compares the machine's clock with the database's, which libfaketime never
 * changes.
 */
const ofTheDatabase = { LD_PRELOAD: "" };

describe("with a database", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  test("migrate updates it and exits; its log is JSON, one object per line", async () => {
    await execute(database.ownerUrl, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public");
    const settings = { DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.ownerUrl };
    const { status, stdout, stderr } = await cupo(["migrate"], settings);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(await execute(database.url, "SELECT 1 FROM patients")).toEqual([]);
    const [first] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).msg);
    expect(first).toBe("migrating to 0001-foundation");
  });

  test("doctor prints one line per check, and exits with 1 if one failed, otherwise with 0", async () => {
    const settings = { DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.ownerUrl, ...ofTheDatabase };
    const good = await cupo(["doctor"], settings);
    expect({ status: good.status, stderr: good.stderr }).toEqual({ status: 0, stderr: "" });
    for (const line of good.stdout.trimEnd().split("\n")) expect(line).toMatch(/^(ok|warning) +[a-z ]+ {2}\S/);
    const many = await cupo(["doctor", "--json", "--replicas", "1000"], settings);
    expect(many.status).toBe(1);
    const { findings }: { findings: { level: string; check: string }[] } = JSON.parse(many.stdout);
    expect(findings.filter(({ level }) => level === "failure").map(({ check }) => check)).toEqual(["connections"]);
  });

  test.skipIf(!existsSync(SCRIPT))(`on a terminal the log is coloured text${terminal}`, async () => {
    await execute(database.ownerUrl, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public");
    const settings = { DATABASE_URL: database.url, MIGRATION_DATABASE_URL: database.ownerUrl, TERM: "xterm-256color" };
    const command = [process.execPath, join(output, "main.js"), "migrate"].join(" ");
    const { stdout } = await promisify(execFile)(SCRIPT, ["-qec", command, "/dev/null"], options(settings));
    expect(stdout).toContain("migrating to 0001-foundation");
    expect(stdout).toContain("\u001B[32mINFO");
    expect(stdout).not.toContain('"msg"');
  });

  test("serve prints its addresses and a working curl command without a token, logs requests as text with LOG_FORMAT=text, and stops on SIGTERM", async () => {
    const settings = {
      DATABASE_URL: database.url,
      PORT: "0",
      INTERNAL_PORT: "0",
      LOG_FORMAT: "text",
      WAIT_SECONDS: PATIENT,
    };
    const service = spawn(process.execPath, [join(output, "main.js"), "serve"], options(settings));
    const exited = once(service, "exit");
    try {
      const [pagesLine, publicLine, internalLine, tryIt, curl = ""] = await firstLines(service, 5);
      const pages = pagesLine?.match(/http:\S+/g) ?? [];
      expect(pages).toHaveLength(2);
      for (const page of pages) {
        expect(page).toMatch(/\/docs$/);
        expect(await (await fetch(page)).text()).not.toContain("data-token-path");
      }
      expect(publicLine).toMatch(/^Public +\(REST\) +http:\/\/127\.0\.0\.1:\d+\/api\/external\/v1$/);
      expect(internalLine).toMatch(/^Internal \(Connect, gRPC, gRPC-Web\) http:\/\/127\.0\.0\.1:\d+$/);
      expect(tryIt).toBe("Try it:");
      const internalUrl = internalLine?.split(" ").at(-1);
      await eventually(async () => (await fetch(`${internalUrl}/readyz`)).status === 200);
      const request = lineWith(service, "INFO: 201");
      const { stdout: token } = await cupo(["token"]);
      const command = curl.replace("$(npm run --silent token)", token.trim());
      expect((await followed(command)).status).toBe(201);
      expect(await request).toMatch(
        /^\[\d\d:\d\d:\d\d\] INFO: 201 cupo\.access\.v1\.PatientService\/RegisterPatient, [\d.]+ ms \{/,
      );
      expect((await followed(command)).headers.get("idempotent-replayed")).toBe("true");
    } finally {
      service.kill("SIGTERM");
    }
    expect(await exited).toEqual([0, null]);
  });

  test.skipIf(!existsSync(SCRIPT))(
    `on a terminal serve prints page URLs with a key for demo tokens; the key is new at each start and never logged${terminal}`,
    async () => {
      const keys = [await keyOfStart(), await keyOfStart()];
      for (const key of keys) expect(key).toMatch(/^[\w-]{22}$/);
      expect(new Set(keys).size).toBe(2);
    },
  );

  test.skipIf(!existsSync(SCRIPT))(
    `on a terminal serve with LOG_FORMAT=json prints only JSON lines, without a token or key${terminal}`,
    async () => {
      const lines = await linesUntilStarted(serveOnTerminal({ LOG_FORMAT: "json" }));
      expect(lines.map((line): unknown => JSON.parse(line).msg)).toContain("listening");
      expect(lines.join("\n")).not.toMatch(/eyJ[\w-]+\.|#key=/);
    },
  );

  function serveOnTerminal(settings: Readonly<Record<string, string>> = {}) {
    const common = { DATABASE_URL: database.url, PORT: "0", INTERNAL_PORT: "0", WAIT_SECONDS: PATIENT };
    const command = [process.execPath, join(output, "main.js"), "serve"].join(" ");
    return spawn(SCRIPT, ["-qec", command, "/dev/null"], options({ ...common, ...settings }));
  }

  /** Starts and stops the service on a terminal. Returns the key that it prints, after getting a token with it. */
  async function keyOfStart(): Promise<string> {
    const service = serveOnTerminal();
    const exited = once(service, "exit");
    const lines: string[] = [];
    createInterface(service.stdout).on("line", (line) => lines.push(line));
    try {
      await eventually(() => Promise.resolve(lines.some((line) => line.startsWith("Try it:"))));
      const pages = lines.join("\n").match(/http:\S+\/docs#key=\S+/g) ?? [];
      expect(pages).toHaveLength(2);
      const [page = ""] = pages;
      const { origin, hash } = new URL(page);
      const key = hash.replace("#key=", "");
      const ask = (headers: Readonly<Record<string, string>>) =>
        fetch(`${origin}/docs/token`, { method: "POST", headers: { Origin: origin, ...headers } });
      expect((await ask({})).status).toBe(404);
      expect((await ask({ "Page-Key": key })).status).toBe(200);
      await eventually(() => lines.some((line) => line.includes("200 no operation")));
      expect(lines.filter((line) => line.includes(key))).toHaveLength(1);
      return key;
    } finally {
      service.kill("SIGTERM");
      await exited;
    }
  }

  test("serve --demo logs the filling of the demo tenants, and can be stopped during it", async () => {
    const service = serveDemo();
    const exited = once(service, "exit");
    try {
      const lines = await firstLines(service, 4, (line) => /"msg":"(?:Demo|[a-z ]+: )/.test(line));
      const [tenantLine, ...groupLines] = lines.map((line): string => JSON.parse(line).msg);
      expect(tenantLine).toMatch(`Demo tenant ${DEMO_TENANT_ID}, `);
      for (const line of groupLines) expect(line).toMatch(/^[a-z ]+: \d+$/);
    } finally {
      service.kill("SIGTERM");
    }
    expect(await exited).toEqual([0, null]);
  });

  test("serve --demo without a terminal prints only JSON lines, with its addresses and without a token", async () => {
    const lines = await linesUntilStarted(serveDemo());
    const logged = lines.map((line): Record<string, unknown> => JSON.parse(line));
    expect(logged.filter(({ msg }) => msg === "listening")).toMatchObject([
      {
        publicUrl: expect.stringMatching(/^http:/),
        internalUrl: expect.stringMatching(/^http:/),
        basePath: "/api/external/v1",
      },
    ]);
    expect(lines.join("\n")).not.toMatch(/eyJ[\w-]+\.|#key=/);
  });

  /** Stops the service once it has announced its start. Returns the lines that it printed. */
  async function linesUntilStarted(service: ReturnType<typeof serveDemo>): Promise<string[]> {
    const exited = once(service, "exit");
    const lines: string[] = [];
    createInterface(service.stdout).on("line", (line) => lines.push(line));
    try {
      await eventually(() => lines.some((line) => line.includes("prints an access token")));
    } finally {
      service.kill("SIGTERM");
      await exited;
    }
    return lines;
  }

  function serveDemo() {
    const settings = { DATABASE_URL: database.url, PORT: "0", INTERNAL_PORT: "0" };
    return spawn(process.execPath, [join(output, "main.js"), "serve", "--demo"], options(settings));
  }
});

/** Runs the command line until it exits, with only these settings. */
async function cupo(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const run = promisify(execFile)(process.execPath, [join(output, "main.js"), ...args], options(settings));
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return { status: run.child.exitCode, stdout, stderr };
}

function options(settings: Readonly<Record<string, string>>) {
  return { cwd: dataDir, env: { PATH: process.env["PATH"], ...machineClock, CUPO_DATA_DIR: dataDir, ...settings } };
}
