import { Socket } from "node:net";
import { Client, Pool, type PoolClient, TypeOverrides } from "pg";
import { type SilenceOptions, SilenceWatch } from "./silence/watch-silence.js";

/** How the service reaches its database. */
export interface DatabaseOptions {
  /**
   * postgres:// URL. One parameter is the project's own: `prepared_statements=false` switches named prepared
   * statements off, for connection poolers that cannot carry them.
   */
  readonly url: string;
  /** Connections at most; each open call holds one for as long as its transaction lasts. */
  readonly maxConnections: number;
  /** How long a call waits for a free or a new connection before it is answered 503. */
  readonly acquireTimeoutMs: number;
  /** After this long without an answer to a statement the connection is given up. Above every limit set in the server. */
  readonly queryTimeoutMs: number;
  /** Told that named statements do not last, and are given up from here on. */
  readonly onStatementsUnnamed?: () => void;
  /** Told of a connection that broke while it was idle; it has left the pool already. */
  readonly onIdleError: (error: Error) => void;
  /** Told that nothing is heard of the database any more, and that it is heard again. */
  readonly onSilent?: ((isSilent: boolean) => void) | undefined;
  /** How silence is watched for; the network and the clock unless given. */
  readonly silence?: Pick<SilenceOptions, "isHeard" | "pause">;
  /** Told how long somebody waited for a connection, in milliseconds, whether they got one or not. */
  readonly onAcquired?: ((ms: number, isGiven: boolean) => void) | undefined;
}

/** The connection pool of the process. */
export interface Database {
  readonly pool: Pool;
  /** Whether statements are prepared by name, which lasts only where a connection is one to the server. */
  readonly namedStatements: boolean;
  /** A connection for one transaction; `release` gives it back. Rejects at once while nothing is heard of the database. */
  acquire(): Promise<PoolClient>;
  /**
   * Says that a connection was lost. What broke it, a restart or a failover, has mostly broken those beside it too, so none
   * that is open now is handed out again.
   */
  discardConnections(): void;
  /** Has somebody told, from now on, that nothing is heard of the database any more. */
  whenSilent(listener: () => void): void;
  /** Prepares nothing by name any more, because a pooler lost what was. */
  unnameStatements(): void;
  /** What the role can do that a service should not be able to; undefined for nothing of it. */
  findExcessOfRole(): Promise<RoleExcess | undefined>;
  close(): Promise<void>;
}

/**
 * What a role can do that a service should not be able to: row-level security does not bind it, being a superuser's or one
 * with BYPASSRLS; or it can change the tables themselves and what was recorded once and for all.
 */
export type RoleExcess = "BYPASSES_ROW_SECURITY" | "OWNS_TABLES";

const EXCESS = `SELECT CASE WHEN rolsuper OR rolbypassrls THEN 'BYPASSES_ROW_SECURITY'
    WHEN has_table_privilege(to_regclass('audit_events'), 'UPDATE, DELETE, TRUNCATE') THEN 'OWNS_TABLES' END AS excess
  FROM pg_roles WHERE rolname = current_user`;
const DATE_OID = 1082;
const DATE_ARRAY_OID = 1182;

/**
 * Opens the pool without connecting yet: a database that is away at start is an unavailable database, not a failed start.
 * Connections pipeline: several statements share a round trip.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const url = new URL(options.url);
  let namedStatements = url.searchParams.get("prepared_statements") !== "false";
  url.searchParams.delete("prepared_statements");
  const pool = openPool(url, options);
  const { acquire, discardConnections } = countGenerations(pool, options.onAcquired);
  const whenSilent = [discardConnections];
  const watch = watchSilence(pool, options, () => whenSilent.forEach((tell) => tell()));
  breakSilentConnections(pool, options.queryTimeoutMs);
  return {
    pool,
    get namedStatements() {
      return namedStatements;
    },
    unnameStatements() {
      if (namedStatements) options.onStatementsUnnamed?.();
      namedStatements = false;
    },
    discardConnections,
    whenSilent: (listener) => void whenSilent.push(listener),
    acquire: () => (watch.isSilent ? Promise.reject(new Error("the database is silent")) : acquire()),
    async findExcessOfRole() {
      const { rows } = await pool.query<{ excess: RoleExcess | null }>(EXCESS);
      return rows[0]?.excess ?? undefined;
    },
    close() {
      watch.close();
      return pool.end();
    },
  };
}

function openPool(url: URL, { maxConnections, acquireTimeoutMs, onIdleError }: DatabaseOptions): Pool {
  const pool = new Pool({
    connectionString: url.href,
    application_name: "cupo",
    pipeline: true,
    types: datesAsText(),
    max: maxConnections,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
  });
  return pool.on("error", onIdleError);
}

/** Dates stay the text `YYYY-MM-DD`: a JavaScript Date would move them into a time zone. */
function datesAsText(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(DATE_OID, (text: string) => text);
  types.setTypeParser(DATE_ARRAY_OID, (text: string) => text.match(/[\d-]+/g) ?? []);
  return types;
}

/** Connections that were made before the last loss of one are of an older generation, and closed when their turn comes. */
function countGenerations(
  pool: Pool,
  onAcquired: DatabaseOptions["onAcquired"],
): Pick<Database, "acquire" | "discardConnections"> {
  let generation = 0;
  const generations = new WeakMap<PoolClient, number>();
  pool.on("connect", (client) => {
    client.on("error", ignoreError);
    generations.set(client, generation);
  });
  return {
    async acquire() {
      const begun = performance.now();
      let isGiven = false;
      try {
        for (;;) {
          const client = await pool.connect();
          isGiven = generations.get(client) === generation;
          if (isGiven) return client;
          client.release(true);
        }
      } finally {
        onAcquired?.(performance.now() - begun, isGiven);
      }
    },
    discardConnections() {
      generation += 1;
    },
  };
}

/** Has the connections that are in use watched, of which none is handed out again once the database was silent. */
function watchSilence(pool: Pool, { url, silence, onSilent }: DatabaseOptions, whenSilent: () => void): SilenceWatch {
  const { host, port } = new Client({ connectionString: url });
  const watch = new SilenceWatch({
    ...silence,
    home: { host, port },
    onSilent(isSilent) {
      if (isSilent) whenSilent();
      onSilent?.(isSilent);
    },
  });
  pool.on("acquire", (client) => watch.begin(socketOf(client)));
  pool.on("release", (_, client) => watch.end(socketOf(client)));
  return watch;
}

/**
 * Breaks a connection that is in use and over which nothing was sent or came for a while. It takes the place of pg's
 * `query_timeout`, which starts and stops a timer for each statement; this one is Node's own of the socket, which traffic
 * only puts off.
 */
function breakSilentConnections(pool: Pool, timeoutMs: number): void {
  const inUse = new WeakSet<PoolClient>();
  pool.on("acquire", (client) => inUse.add(client));
  pool.on("release", (error, client) => error || inUse.delete(client));
  pool.on("connect", (client) => {
    const stream = socketOf(client);
    stream.setTimeout(timeoutMs, () => {
      if (inUse.has(client)) stream.destroy(new Error("Query read timeout"));
    });
  });
}

function socketOf({ connection: { stream } }: PoolClient): Socket {
  if (!(stream instanceof Socket)) throw new Error("a connection to the database is a socket");
  return stream;
}

/** For a connection that breaks while a call holds it: the statements of that call fail, and the event says nothing more. */
function ignoreError(): void {}
