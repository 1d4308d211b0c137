import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { escapeIdentifier, escapeLiteral } from "pg";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start-embedded-postgres.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { followDocumentedSteps, workerUrlsOf } from "./citus.js";
import { execute, type TestServer, withDatabase } from "./database.js";
import { pidFile, removeAbandonedFolders, removeFolder, temporaryFolder } from "./temporary-folder.js";

interface Server {
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** Settings for a server whose data may be lost, with enough connections for all workers. */
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

/**
 * With the default of 4,096 SCRAM iterations, each of thousands of log-ins would cost the client as many hash rounds.
 */
const QUICK_LOGIN = { scram_iterations: "1" };

/**
 * Provides every test file with a PostgreSQL server and a migrated template database. Returns the function that removes
 * them. The server is one of these:
 * - by default the embedded server in a temporary folder, in memory if there is room
 * - with TEST_POSTGRES=testcontainers a container of the image TEST_POSTGRES_IMAGE (default postgres:18-alpine)
 * - with TEST_DATABASE_URL that server, as a superuser or an ordinary role that may create databases
 * - with TEST_CITUS_URL the Citus cluster of that coordinator, as a superuser
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const runFolder = await temporaryFolder();
  const run = `cupo_test_${randomBytes(4).toString("hex")}`;
  const isCitus = Boolean(process.env["TEST_CITUS_URL"]);
  const workerUrls = isCitus ? await workerUrlsOf(server.adminUrl) : [];
  const teardown = async () => {
    const nodes = [server.adminUrl, ...workerUrls];
    for (const url of nodes) await removeDatabases(url, run);
    for (const url of nodes) await removeRoles(url, run);
    await server.stop();
    await rm(runFolder, { recursive: true, force: true });
  };
  try {
    project.provide("runFolder", runFolder);
    project.provide("testServer", {
      adminUrl: server.adminUrl,
      workerUrls,
      ...(await (isCitus ? createCitusTemplate : createTemplate)(server.adminUrl, run)),
    });
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

function startServer(): Promise<Server> {
  const { TEST_CITUS_URL, TEST_DATABASE_URL, TEST_POSTGRES, TEST_POSTGRES_IMAGE } = process.env;
  const url = TEST_CITUS_URL || TEST_DATABASE_URL;
  if (url) return Promise.resolve({ adminUrl: url, stop: () => Promise.resolve() });
  if (TEST_POSTGRES === "testcontainers") return startContainer(TEST_POSTGRES_IMAGE || "postgres:18-alpine");
  if (!TEST_POSTGRES || TEST_POSTGRES === "embedded") return startEmbedded();
  throw new Error(`TEST_POSTGRES is ${TEST_POSTGRES}; it must be embedded or testcontainers`);
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

/** Sets a role's password again, to hash it with the server's current settings. */
async function hashAnew(url: string): Promise<void> {
  await execute(url, `ALTER ROLE CURRENT_USER PASSWORD ${escapeLiteral(decodeURIComponent(new URL(url).password))}`);
}

/** Ends an interrupted run at once. SIGQUIT is PostgreSQL's immediate shutdown. */
function cutOff(folder: string): void {
  if (existsSync(pidFile(folder))) process.kill(Number.parseInt(readFileSync(pidFile(folder), "utf8"), 10), "SIGQUIT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Creates the template and its ordinary roles, all named after this run. If the server's role is an ordinary one, it is
 * used instead of new roles.
 */
async function createTemplate(adminUrl: string, run: string): Promise<Pick<TestServer, "templateUrl" | "ownerUrl">> {
  const ownerUrl = withDatabase(await createRole(adminUrl, `${run}_owner`), run);
  const templateUrl = withDatabase(await createRole(adminUrl, run), run);
  const owner = escapeIdentifier(decodeURIComponent(new URL(ownerUrl).username));
  await execute(adminUrl, `CREATE DATABASE ${run} TEMPLATE template0 ENCODING 'UTF8' OWNER ${owner}`);
  await migrate({ url: ownerUrl, serviceUrl: templateUrl });
  await execute(adminUrl, `ALTER DATABASE ${run} ALLOW_CONNECTIONS false`);
  return { templateUrl, ownerUrl };
}

/**
 * Creates the template on each node. Copying it on every node makes a new cluster, because the metadata of the nodes is
 * copied too.
 */
async function createCitusTemplate(
  adminUrl: string,
  run: string,
): Promise<Pick<TestServer, "templateUrl" | "ownerUrl">> {
  const { serviceUrl, ownerUrl } = await followDocumentedSteps(adminUrl, run);
  for (const url of [adminUrl, ...(await workerUrlsOf(adminUrl))])
    await execute(
      url,
      `ALTER DATABASE ${run} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${run}'`,
    );
  return { templateUrl: serviceUrl, ownerUrl };
}

async function removeDatabases(adminUrl: string, run: string): Promise<void> {
  const databases = await execute(adminUrl, `SELECT datname FROM pg_database WHERE starts_with(datname, '${run}')`);
  await execute(adminUrl, ...databases.map(({ datname }) => `DROP DATABASE "${String(datname)}" WITH (FORCE)`));
}

async function removeRoles(adminUrl: string, run: string): Promise<void> {
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
