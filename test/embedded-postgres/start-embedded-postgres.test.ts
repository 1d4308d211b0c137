import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { execute } from "../support/database.js";
import { pidFile, removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const TIMEOUT_MS = 20_000;
const settings = { fsync: "off", full_page_writes: "off" };
/** A service that starts the server, tells its URL, shrugs at Ctrl-C and stops on any message. */
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

/** One data folder for the tests of a describe, which find it as the one before left it. */
function useDataFolder(): void {
  beforeAll(async () => {
    dataDir = await temporaryFolder();
  });
  afterEach(() => Promise.all(services.splice(0).map(kill)));
  afterAll(() => removeFolder(dataDir));
}

describe("an embedded server", () => {
  useDataFolder();

  test("makes a database that keeps its data over a stop", async () => {
    const first = await start();
    await execute(first.url, "CREATE TABLE kept (value text)", "INSERT INTO kept VALUES ('ñandú')");
    await first.stop();
    await expect(execute(first.url, "SELECT 1")).rejects.toThrow();

    const second = await start();
    expect(await execute(second.url, "SELECT value FROM kept")).toEqual([{ value: "ñandú" }]);
    await second.stop();
  });

  test("makes an ordinary role for the service, reachable by password on the loopback address only", async () => {
    const server = await start();
    const [role] = await execute(
      server.url,
      "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user",
    );
    expect(role).toEqual({
      rolname: "cupo",
      rolsuper: false,
      rolbypassrls: false,
      rolcreatedb: false,
      rolcreaterole: false,
    });
    const [database] = await execute(
      server.superuserUrl,
      `SELECT pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding,
         current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
         (SELECT array_agg(DISTINCT auth_method) FROM pg_hba_file_rules) AS methods
       FROM pg_database WHERE datname = 'cupo'`,
    );
    expect(database).toEqual({
      owner: "cupo",
      encoding: "UTF8",
      addresses: "127.0.0.1",
      sockets: "",
      methods: ["scram-sha-256"],
    });
    await server.stop();
  });

  test("keeps the passwords in a file that only its owner can read", async () => {
    const server = await start();
    const path = join(dataDir, "postgres", "passwords.json");
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(server.url).toContain(JSON.parse(await readFile(path, "utf8")).cupo);
    await server.stop();
  });

  test("logs nothing of a statement that fails", async () => {
    const server = await start();
    await execute(
      server.url,
      "CREATE TABLE people (document text PRIMARY KEY)",
      "INSERT INTO people VALUES ('CC-4711')",
    );
    await expect(execute(server.url, "INSERT INTO people VALUES ('CC-4711')")).rejects.toThrow("duplicate key");
    await expect(execute(server.url, "SELECT 'CC-4711'::uuid")).rejects.toThrow("CC-4711");
    await server.stop();
    const log = await readFile(join(dataDir, "postgres", "server.log"), "utf8");
    expect(log).toContain("ready to accept connections");
    expect(log).not.toContain("CC-4711");
    expect(log).not.toContain("people");
  });

  test("fails with the end of the log when the server does not start", async () => {
    const started = startEmbeddedPostgres({ dataDir, settings: { no_such_setting: "1" } });
    await expect(started).rejects.toThrow(/did not start.*server\.log.*no_such_setting/s);
  });

  test("a data folder whose path a shell would change is refused", async () => {
    const started = startEmbeddedPostgres({ dataDir: join(dataDir, "$HOME") });
    await expect(started).rejects.toThrow(/because of its character "\$".*CUPO_DATA_DIR/);
  });
});

describe("a first start that was cut off", () => {
  useDataFolder();

  test("begins again", async () => {
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

describe("a server that runs already", () => {
  useDataFolder();

  test("is shared by services that start at once, until the last one leaves", async () => {
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

  test("stays for another service when this one stops", async () => {
    const server = await start();
    const child = serve();
    const url = await message(child, /^postgres:/);
    await server.stop();
    expect(await execute(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("outlives Ctrl-C and the SIGKILL of its service, and is taken over by the next start", async () => {
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
    await execute(first.url, "CREATE TABLE kept (value int)", "INSERT INTO kept VALUES (1)");
    const client = new Client(first.url);
    await client.connect();
    const ended = new Promise((resolve) => client.on("error", () => undefined).once("end", resolve));
    process.kill(postmaster(), "SIGKILL");
    await ended;
    expect(existsSync(pidFile(dataDir))).toBe(true);

    const second = await start();
    expect(await execute(second.url, "SELECT value FROM kept")).toEqual([{ value: 1 }]);
    await first.stop();
    expect(await execute(second.url, "SELECT value FROM kept")).toEqual([{ value: 1 }]);
    await second.stop();
    await expect(first.stop()).resolves.toBeUndefined();
  });

  test("is not taken for the program that has its process id by now", async () => {
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

/** Runs the service in a process group of its own, as a terminal does. */
function serve(): ChildProcess {
  const child = fork(join(programs, "service.mjs"), [dataDir], { execArgv: [], detached: true });
  services.push(child);
  return child;
}

/** The next message that matches. */
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
