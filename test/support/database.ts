import { randomBytes } from "node:crypto";
import { Client, escapeIdentifier, Pool } from "pg";
import { inject } from "vitest";

/** The server of a test run, as the global setup provides it. All are in the same server. */
export interface TestServer {
  /** A maintenance database, as a role that may create databases: the superuser, but where TEST_DATABASE_URL names another. */
  readonly adminUrl: string;
  /** The migrated database that is cloned, as the service, an ordinary role. Refuses connections. */
  readonly templateUrl: string;
  /** The same as its owner, another ordinary role, but where TEST_DATABASE_URL names one, which then is both. */
  readonly ownerUrl: string;
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

/** A database of a test's own, migrated and empty. */
export interface TestDatabase {
  /** As the service: neither superuser nor BYPASSRLS, so that row-level security applies, nor owner of anything. */
  readonly url: string;
  /** As the ordinary role that owns it. */
  readonly ownerUrl: string;
  /** As the role that owns the server, to look past row-level security where the server's role is a superuser. */
  readonly adminUrl: string;
  /** Removes the database; connections that are still open are cut. */
  drop(): Promise<void>;
}

/**
 * Clones the migrated template. Needs no lock between workers: nobody can connect to the template, and PostgreSQL lets any
 * number of sessions copy from it at once.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(databaseOf(inject("testServer").templateUrl));
}

/** Makes a database in which there is nothing yet. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template0");
}

/** A copy of a database, to which nobody may be connected. */
export function cloneDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return createDatabase(databaseOf(url));
}

/** Copies the files: as blocks through the log, which is PostgreSQL's usual way, it takes three times as long. */
async function createDatabase(template: string): Promise<TestDatabase> {
  const { adminUrl, templateUrl, ownerUrl } = inject("testServer");
  const name = `${databaseOf(templateUrl)}_${randomBytes(6).toString("hex")}`;
  const owner = decodeURIComponent(new URL(ownerUrl).username);
  const origin = `TEMPLATE ${escapeIdentifier(template)} OWNER ${escapeIdentifier(owner)}`;
  const admin = adminOf(adminUrl);
  await admin.query(`CREATE DATABASE ${escapeIdentifier(name)} ${origin} STRATEGY FILE_COPY`);
  return {
    url: withDatabase(templateUrl, name),
    ownerUrl: withDatabase(ownerUrl, name),
    adminUrl: withDatabase(adminUrl, name),
    drop: () => admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`).then(() => undefined),
  };
}

let admins: Pool | undefined;

/** Connections that make and drop the databases of a process's tests: to open one takes as long as that does. */
function adminOf(adminUrl: string): Pool {
  admins ??= new Pool({ connectionString: adminUrl, allowExitOnIdle: true }).on("error", ignoreTheEndOfTheServer);
  return admins;
}

/** Runs statements one after the other on a connection of their own and gives the rows of the last. */
export async function execute(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  client.on("error", ignoreTheEndOfTheServer);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** A server that ends says so twice: to the statement, which rejects, and to its connection. */
function ignoreTheEndOfTheServer(): void {}

/** The same URL with another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
