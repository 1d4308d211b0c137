import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { escapeIdentifier, escapeLiteral } from "pg";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { execute, type TestServer, withDatabase } from "./database.js";
import { pidFile, removeAbandonedFolders, removeFolder, temporaryFolder } from "./temporary-folder.js";

interface Server {
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** What a server may leave out when nobody minds losing its data, and connections for all that runs at once. */
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "1GB",
  checkpoint_timeout: "1h",
  autovacuum: "off",
  max_connections: "300",
};

/** Each log-in to a role whose password was hashed 4,096 times takes its client as many rounds, and there are thousands. */
const QUICK_LOGIN = { scram_iterations: "1" };

/**
 * Provides every test file with a PostgreSQL server and a migrated template database: the embedded server in a temporary
 * folder, in memory where there is room; with TEST_POSTGRES=testcontainers a container of the image TEST_POSTGRES_IMAGE (postgres:18-alpine); with
 * TEST_DATABASE_URL the server it names, as a superuser or as an ordinary role that may create databases. Gives back
 * the function that removes all of it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const runFolder = await temporaryFolder();
  const run = `cupo_test_${randomBytes(4).toString("hex")}`;
  const teardown = async () => {
    await removeRun(server.adminUrl, run);
    await server.stop();
    await rm(runFolder, { recursive: true, force: true });
  };
  try {
    project.provide("runFolder", runFolder);
    project.provide("testServer", {
      adminUrl: server.adminUrl,
      ...(await createTemplate(server.adminUrl, run)),
    });
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

function startServer(): Promise<Server> {
  const { TEST_DATABASE_URL, TEST_POSTGRES, TEST_POSTGRES_IMAGE } = process.env;
  if (TEST_DATABASE_URL) return Promise.resolve({ adminUrl: TEST_DATABASE_URL, stop: () => Promise.resolve() });
  if (TEST_POSTGRES === "testcontainers") return startContainer(TEST_POSTGRES_IMAGE || "postgres:18-alpine");
  if (!TEST_POSTGRES || TEST_POSTGRES === "embedded") return startEmbedded();
  throw new Error(`TEST_POSTGRES is ${TEST_POSTGRES}, but takes embedded or testcontainers`);
}

async function startContainer(image: string): Promise<Server> {
  const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const container = await new PostgreSqlContainer(image).withCommand(["postgres", ...settings]).start();
  return {
    adminUrl: container.getConnectionUri(),
    stop: async () => {
      await container.stop();
    },
  };
}

async function startEmbedded(): Promise<Server> {
  await removeAbandonedFolders();
  const folder = await temporaryFolder();
  const cut = () => cutOff(folder);
  process.once("exit", cut);
  const server = await startEmbeddedPostgres({ dataDir: folder, settings: { ...SETTINGS, ...QUICK_LOGIN } });
  await hashAnew(server.superuserUrl);
  return {
    adminUrl: server.superuserUrl,
    stop: async () => {
      await server.stop();
      await removeFolder(folder);
      process.off("exit", cut);
    },
  };
}

/** Gives a role the password that it has, hashed as the server is set now. */
async function hashAnew(url: string): Promise<void> {
  await execute(url, `ALTER ROLE CURRENT_USER PASSWORD ${escapeLiteral(decodeURIComponent(new URL(url).password))}`);
}

/** The end of a run that was interrupted, which waits for nothing: SIGQUIT is PostgreSQL's immediate shutdown. */
function cutOff(folder: string): void {
  if (existsSync(pidFile(folder))) process.kill(Number.parseInt(readFileSync(pidFile(folder), "utf8"), 10), "SIGQUIT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Makes the ordinary roles, unless the server's role is one, and the template; all have the name of this run. */
async function createTemplate(adminUrl: string, run: string): Promise<Pick<TestServer, "templateUrl" | "ownerUrl">> {
  const ownerUrl = withDatabase(await createRole(adminUrl, `${run}_owner`), run);
  const templateUrl = withDatabase(await createRole(adminUrl, run), run);
  const owner = escapeIdentifier(decodeURIComponent(new URL(ownerUrl).username));
  await execute(adminUrl, `CREATE DATABASE ${run} TEMPLATE template0 ENCODING 'UTF8' OWNER ${owner}`);
  await migrate({ url: ownerUrl, serviceUrl: templateUrl });
  await execute(adminUrl, `ALTER DATABASE ${run} ALLOW_CONNECTIONS false`);
  return { templateUrl, ownerUrl };
}

async function removeRun(adminUrl: string, run: string): Promise<void> {
  const databases = await execute(adminUrl, `SELECT datname FROM pg_database WHERE starts_with(datname, '${run}')`);
  await execute(adminUrl, ...databases.map(({ datname }) => `DROP DATABASE "${String(datname)}" WITH (FORCE)`));
  const roles = await execute(adminUrl, `SELECT rolname FROM pg_roles WHERE starts_with(rolname, '${run}')`);
  await execute(adminUrl, ...roles.map(({ rolname }) => `DROP ROLE ${String(rolname)}`));
}

async function createRole(adminUrl: string, name: string): Promise<string> {
  const [self] = await execute(adminUrl, "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user");
  if (self?.["rolsuper"] !== true) {
    if (self?.["rolbypassrls"] === false) return adminUrl;
    throw new Error("the role of TEST_DATABASE_URL has BYPASSRLS; it must be a superuser, or a role without it");
  }
  const url = new URL(adminUrl);
  url.username = name;
  url.password = randomBytes(12).toString("hex");
  await execute(adminUrl, `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOBYPASSRLS PASSWORD '${url.password}'`);
  return url.href;
}
