import { randomBytes } from "node:crypto";
import { Client, DatabaseError, escapeIdentifier, Pool } from "pg";
import { inject } from "vitest";
import { eventually } from "./eventually.js";

/** The server of a test run, provided by the global setup. The databases of all tests are on it. */
export interface TestServer {
  /**
   * Maintenance database, as a role that may create databases. It is the superuser unless TEST_DATABASE_URL names
   * another role.
   */
  readonly adminUrl: string;
  /** The migrated template database, as the ordinary role of the service. It accepts no connections. */
  readonly templateUrl: string;
  /**
   * The template as its owner, another ordinary role. If TEST_DATABASE_URL names an ordinary role, that role is both.
   */
  readonly ownerUrl: string;
  /** On Citus, maintenance databases of the workers; otherwise empty. */
  readonly workerUrls: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

/** A migrated database without data, for one test file. */
export interface TestDatabase {
  /** As the service's role: no superuser, no BYPASSRLS and no owner, so that row-level security applies. */
  readonly url: string;
  /** As the ordinary role that owns the database. */
  readonly ownerUrl: string;
  /** As the role that created the server's databases. If it is a superuser, it bypasses row-level security. */
  readonly adminUrl: string;
  /** Drops the database and closes the connections to it. */
  drop(): Promise<void>;
}

/**
 * Clones the migrated template. Workers need no lock: nobody can connect to the template, and PostgreSQL lets several
 * sessions copy it at the same time.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(databaseOf(inject("testServer").templateUrl));
}

/** Creates a database without tables. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template0");
}

/** Copies a database. It must have no connections. */
export function cloneDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return createDatabase(databaseOf(url));
}

/** deploy/citus/README.md sets this on the database. Cloning a database does not copy its settings. */
const CITUS_SETTING = "citus.propagate_set_commands = 'local'";

/**
 * Copies the template as files. PostgreSQL's default, which writes every block to the log, takes three times as long.
 */
async function createDatabase(template: string): Promise<TestDatabase> {
  const { adminUrl, templateUrl, ownerUrl, workerUrls } = inject("testServer");
  const name = `${databaseOf(templateUrl)}_${randomBytes(6).toString("hex")}`;
  const owner = decodeURIComponent(new URL(ownerUrl).username);
  const origin = `TEMPLATE ${escapeIdentifier(template)} OWNER ${escapeIdentifier(owner)}`;
  const nodes = [adminUrl, ...workerUrls].map(adminOf);
  const everywhere = async (statement: string) => {
    await Promise.all(nodes.map((node) => node.query(statement)));
  };
  await everywhere(`CREATE DATABASE ${escapeIdentifier(name)} ${origin} STRATEGY FILE_COPY`);
  if (workerUrls.length > 0) await nodes[0]?.query(`ALTER DATABASE ${escapeIdentifier(name)} SET ${CITUS_SETTING}`);
  return {
    url: withDatabase(templateUrl, name),
    ownerUrl: withDatabase(ownerUrl, name),
    adminUrl: withDatabase(adminUrl, name),
    drop: async () => void (await Promise.all(nodes.map((node) => dropAt(node, name)))),
  };
}

/** SQLSTATE of a database that is in use. The maintenance process of Citus may connect while a database is dropped. */
const IN_USE = "55006";

async function dropAt(node: Pool, name: string): Promise<void> {
  const statement = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`;
  await eventually(() =>
    node.query(statement).then(
      () => true,
      (error: unknown) => {
        if (error instanceof DatabaseError && error.code === IN_USE) return false;
        throw error;
      },
    ),
  );
}

const admins = new Map<string, Pool>();

/**
 * Connections that create and drop test databases, shared by a process. Opening one takes as long as creating a
 * database.
 */
function adminOf(adminUrl: string): Pool {
  const known = admins.get(adminUrl);
  if (known !== undefined) return known;
  const pool = new Pool({ connectionString: adminUrl, allowExitOnIdle: true }).on("error", ignoreTheEndOfTheServer);
  admins.set(adminUrl, pool);
  return pool;
}

/** Runs statements one after another on a new connection and returns the rows of the last one. */
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

/** When the server stops, the statement rejects and the connection emits "error" too. The rejection is enough. */
function ignoreTheEndOfTheServer(): void {}

/** Returns the URL with another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
