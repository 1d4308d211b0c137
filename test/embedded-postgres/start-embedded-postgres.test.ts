import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { identifyProcess } from "../../src/embedded-postgres/processes.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { execute, withDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { pidFile, removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const TIMEOUT_MS = 20_000;
const settings = { fsync: "off", full_page_writes: "off" };
/** A service that starts the server and sends its URL, ignores Ctrl-C and stops on any message. */
const service = `
  import { startEmbeddedPostgres } from "./embedded-postgres/start-embedded-postgres.js";
  process.on("SIGINT", () => process.send("interrupted"));
  const onProgress = (text) => process.send(text);
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2], onProgress, settings: ${JSON.stringify(settings)} });
  process.on("message", async () => {
    await server.stop();
    process.disconnect();
  });
  process.send(server.url);
`;
const services: ChildProcess[] = [];
let programs: string;
let dataDir: string;

beforeAll(async () => {
  await mkdir("build", { recursive: true });
  programs = await mkdtemp(join(process.cwd(), "build", "embedded-"));
  const options = ["--ignoreConfig", "--noCheck", "--module", "NodeNext", "--target", "ES2023", "--rootDir", "src"];
  const tsc = join("node_modules", "typescript", "bin", "tsc");
  await promisify(execFile)(process.execPath, [
    tsc,
    ...options,
    "--outDir",
    programs,
    "src/embedded-postgres/start-embedded-postgres.ts",
  ]);
  await writeFile(join(programs, "service.mjs"), service);
});

afterAll(() => rm(programs, { recursive: true, force: true }));

/** Creates one data folder for the tests of a describe. They run in order on the same data. */
function useDataFolder(): void {
  beforeAll(async () => {
    dataDir = await temporaryFolder();
  });
  afterEach(() => Promise.all(services.splice(0).map(kill)));
  afterAll(() => removeFolder(dataDir));
}

describe("an embedded server", () => {
  useDataFolder();

  test("creates a database that keeps its data after a stop", async () => {
    const first = await start();
    await execute(first.ownerUrl, "CREATE TABLE kept (value text)", "INSERT INTO kept VALUES ('ñandú')");
    await first.stop();
    await expect(execute(first.url, "SELECT 1")).rejects.toThrow();

    const second = await start();
    expect(await execute(second.ownerUrl, "SELECT value FROM kept")).toEqual([{ value: "ñandú" }]);
    await second.stop();
  });

  test("creates ordinary roles for owner and service, with passwords and only on the loopback address", async () => {
    const server = await start();
    const self =
      "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user";
    const ordinary = { rolsuper: false, rolbypassrls: false, rolcreatedb: false, rolcreaterole: false };
    expect(await execute(server.url, self)).toEqual([{ rolname: "cupo", ...ordinary }]);
    expect(await execute(server.ownerUrl, self)).toEqual([{ rolname: "cupo_owner", ...ordinary }]);
    const [database] = await execute(
      server.superuserUrl,
      `SELECT pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding,
         current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
         (SELECT array_agg(DISTINCT auth_method) FROM pg_hba_file_rules) AS methods
       FROM pg_database WHERE datname = 'cupo'`,
    );
    expect(database).toEqual({
      owner: "cupo_owner",
      encoding: "UTF8",
      addresses: "127.0.0.1",
      sockets: "",
      methods: ["scram-sha-256"],
    });
    await server.stop();
  });

  test("stores the passwords in a file that only its owner can read", async () => {
    const server = await start();
    const path = join(dataDir, "postgres", "passwords.json");
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(server.url).toContain(JSON.parse(await readFile(path, "utf8")).cupo);
    await server.stop();
  });

  test("does not log failed statements", async () => {
    const server = await start();
    await execute(
      server.ownerUrl,
      "CREATE TABLE people (document text PRIMARY KEY)",
      "INSERT INTO people VALUES ('CC-4711')",
    );
    await expect(execute(server.ownerUrl, "INSERT INTO people VALUES ('CC-4711')")).rejects.toThrow("duplicate key");
    await expect(execute(server.ownerUrl, "SELECT 'CC-4711'::uuid")).rejects.toThrow("CC-4711");
    await server.stop();
    const log = await readFile(join(dataDir, "postgres", "server.log"), "utf8");
    expect(log).toContain("ready to accept connections");
    expect(log).not.toContain("CC-4711");
    expect(log).not.toContain("people");
  });

  test("rejects with the end of the log if the server does not start", async () => {
    const started = startEmbeddedPostgres({ dataDir, settings: { no_such_setting: "1" } });
    await expect(started).rejects.toThrow(/did not start.*server\.log.*no_such_setting/s);
  });

  test("rejects a data folder whose path contains shell characters", async () => {
    const started = startEmbeddedPostgres({ dataDir: join(dataDir, "$HOME") });
    await expect(started).rejects.toThrow(/because of its character "\$".*CUPO_DATA_DIR/);
  });
});

describe("a cluster from before the owner role existed", () => {
  useDataFolder();

  /** Restores the old state: the service's role owns the database and its objects, and there is no other role. */
  beforeAll(async () => {
    const server = await start();
    const admin = withDatabase(server.superuserUrl, "cupo");
    await execute(admin, "REASSIGN OWNED BY cupo_owner TO cupo", "DROP ROLE cupo_owner");
    await execute(server.url, "CREATE EXTENSION btree_gist", "CREATE TABLE kept (value int)");
    await execute(server.url, "CREATE FUNCTION one() RETURNS int RETURN 1", "CREATE SCHEMA queue");
    const path = join(dataDir, "postgres", "passwords.json");
    const { postgres, cupo } = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ postgres, cupo }));
    await server.stop();
  });

  test("is not changed while a service of an older release uses it", async () => {
    const share = join(dataDir, "postgres", "shares", `${identifyProcess(process.pid)}.older`);
    await writeFile(share, "");
    const server = await start();
    expect(server.ownerUrl).toBe(server.url);
    await server.stop();
    await rm(share);
  });

  test("is migrated to the owner role, with everything that the service's role owned", async () => {
    const server = await start();
    const owned = `SELECT relname AS name FROM pg_class WHERE relowner = 'cupo'::regrole
      UNION ALL SELECT datname FROM pg_database WHERE datdba = 'cupo'::regrole
      UNION ALL SELECT nspname FROM pg_namespace WHERE nspowner = 'cupo'::regrole
      UNION ALL SELECT proname FROM pg_proc WHERE proowner = 'cupo'::regrole
      UNION ALL SELECT extname FROM pg_extension WHERE extowner = 'cupo'::regrole`;
    expect(await execute(server.ownerUrl, owned)).toEqual([]);
    expect(await execute(server.ownerUrl, "SELECT current_user AS name, count(*)::int AS rows FROM kept")).toEqual([
      { name: "cupo_owner", rows: 0 },
    ]);
    await expect(execute(server.url, "SELECT FROM kept")).rejects.toThrow("permission denied");
    await server.stop();
  });
});

describe("an interrupted first start", () => {
  useDataFolder();

  test("is restarted", async () => {
    const child = serve();
    await message(child, /^creating/);
    await kill(child);
    expect(await readdir(dataDir)).toContain("postgres.lock");

    const server = await start();
    expect(await execute(server.url, "SELECT current_user AS name")).toEqual([{ name: "cupo" }]);
    await server.stop();
    await vi.waitFor(async () => {
      await (await start()).stop();
      expect(await readdir(dataDir)).toEqual(["postgres"]);
    }, TIMEOUT_MS);
  });
});

describe("a running server", () => {
  useDataFolder();

  test("is shared by services that start at the same time, until the last one stops", async () => {
    const child = serve();
    const [url, server] = await Promise.all([message(child, /^postgres:/), start()]);
    expect(url).toBe(server.url);

    child.send("stop");
    await once(child, "exit");
    expect(await execute(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);

    await server.stop();
    await server.stop();
    await expect(execute(server.url, "SELECT 1")).rejects.toThrow();
  });

  test("continues for another service when this one stops", async () => {
    const server = await start();
    const child = serve();
    const url = await message(child, /^postgres:/);
    await server.stop();
    expect(await execute(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("survives Ctrl-C and the SIGKILL of its service, and is reused by the next start", async () => {
    const child = serve();
    const url = await message(child, /^postgres:/);
    process.kill(-Number(child.pid), "SIGINT");
    await message(child, /^interrupted/);
    await kill(child);
    const before = await execute(url, "SELECT pg_postmaster_start_time()::text AS started");

    const server = await start();
    expect(server.url).toBe(url);
    expect(await execute(server.url, "SELECT pg_postmaster_start_time()::text AS started")).toEqual(before);
    await server.stop();
    await expect(execute(server.url, "SELECT 1")).rejects.toThrow();
  });
});

describe("a server that died", () => {
  useDataFolder();

  test("is started again with its data, whether or not its service noticed", async () => {
    const first = await start();
    await execute(first.ownerUrl, "CREATE TABLE kept (value int)", "INSERT INTO kept VALUES (1)");
    const client = new Client(first.url);
    await client.connect();
    const ended = new Promise((resolve) => client.on("error", () => undefined).once("end", resolve));
    process.kill(postmaster(), "SIGKILL");
    await ended;
    expect(existsSync(pidFile(dataDir))).toBe(true);

    const second = await start();
    expect(await execute(second.ownerUrl, "SELECT value FROM kept")).toEqual([{ value: 1 }]);
    await first.stop();
    expect(await execute(second.ownerUrl, "SELECT value FROM kept")).toEqual([{ value: 1 }]);
    await second.stop();
    await expect(first.stop()).resolves.toBeUndefined();
  });

  test("that was killed during a statement is started again", async () => {
    const first = await start();
    const longStatement = "SELECT count(*) FROM generate_series(1, 10000000)";
    const ended = execute(first.url, longStatement).then(String, String);
    const isAtWork = `SELECT FROM pg_stat_activity WHERE query = '${longStatement}' AND state = 'active'`;
    await eventually(async () => (await execute(first.superuserUrl, isAtWork)).length === 1);
    const killed = postmaster();
    process.kill(killed, "SIGKILL");
    await eventually(() => identifyProcess(killed) === undefined);

    const second = await start();
    expect(await execute(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await ended;
    await second.stop();
    await first.stop();
  });

  test("is not confused with another program that has its process id", async () => {
    await (await start()).stop();
    const cluster = join(dataDir, "postgres", "cluster");
    await writeFile(pidFile(dataDir), [process.pid, cluster, "1", "1", "", "127.0.0.1", "1 1", "ready", ""].join("\n"));

    const server = await start();
    expect(postmaster()).not.toBe(process.pid);
    expect(await execute(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.stop();
  });
});

function start() {
  return startEmbeddedPostgres({ dataDir, settings });
}

/** Runs the service in its own process group, as a terminal does. */
function serve(): ChildProcess {
  const child = fork(join(programs, "service.mjs"), [dataDir], { execArgv: [], detached: true });
  services.push(child);
  return child;
}

/** Resolves with the next message that matches. */
function message(child: ChildProcess, wanted: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on("message", (text: string) => wanted.test(text) && resolve(text));
    child.once("exit", (code, signal) => reject(new Error(`the service ended with ${code ?? signal}`)));
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.kill("SIGKILL")) await once(child, "exit");
}

function postmaster(): number {
  return Number.parseInt(readFileSync(pidFile(dataDir), "utf8"), 10);
}
