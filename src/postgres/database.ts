import { Socket } from "node:net";
import { Client, Pool, type PoolClient, TypeOverrides } from "pg";
import { ReachabilityMonitor, type ReachabilityOptions } from "./reachability/reachability-monitor.js";

/** Options of the database connection pool. */
export interface DatabaseOptions {
  /**
   * postgres:// URL. Cupo itself reads one parameter: `prepared_statements=false` disables named prepared statements,
   * for connection poolers that do not support them.
   */
  readonly url: string;
  /** Maximum number of connections. A call holds one while its transaction runs. */
  readonly maxConnections: number;
  /** How long a call waits for a free or new connection. After this time, the call is answered with 503. */
  readonly acquireTimeoutMs: number;
  /** A connection in use is destroyed after this many milliseconds without traffic, even if a statement still runs. */
  readonly queryTimeoutMs: number;
  /** Called when a pooler has lost named prepared statements. From then on, statements are sent without names. */
  readonly onStatementsUnnamed?: () => void;
  /** Called when an idle connection breaks. The connection has already left the pool. */
  readonly onIdleError: (error: Error) => void;
  /** Called with true when the database becomes unreachable, and with false when it is reachable again. */
  readonly onUnreachable?: ((isUnreachable: boolean) => void) | undefined;
  /** For tests: functions that replace the network and the clock of the reachability check. */
  readonly reachability?: Pick<ReachabilityOptions, "probe" | "pause">;
  /** Called after each `acquire` while the database is reachable, with the wait in ms and whether it succeeded. */
  readonly onAcquired?: ((ms: number, isGiven: boolean) => void) | undefined;
}

/** The connection pool of the process. */
export interface Database {
  readonly pool: Pool;
  /**
   * Whether statements are sent as named prepared statements. False if the URL has `prepared_statements=false`, and
   * after {@link unnameStatements}.
   */
  readonly namedStatements: boolean;
  /**
   * Whether PostgreSQL makes generic plans, which do not depend on the values of a statement. All tenants then have the
   * same plans, even tenants that are not in PostgreSQL's statistics yet. False until {@link findExcessOfRole} has run.
   * Always false on Citus, because Citus cannot plan without values.
   */
  readonly plansOnce: boolean;
  /**
   * Returns a connection for one transaction. The connection's `release` returns it to the pool. Rejects if no
   * connection is available within `acquireTimeoutMs`. Rejects immediately while the database is unreachable.
   */
  acquire(): Promise<PoolClient>;
  /**
   * Stops handing out the connections that are open now. Call this after a lost connection or a read-only error,
   * because a restart or failover usually affects all connections.
   */
  discardConnections(): void;
  /** Registers a function that is called each time the database becomes unreachable. */
  whenUnreachable(listener: () => void): void;
  /** Makes `namedStatements` false. Call this when a pooler has lost named prepared statements. */
  unnameStatements(): void;
  /** Returns a privilege that the service's role should not have; undefined if there is none. Also sets `plansOnce`. */
  findExcessOfRole(): Promise<RoleExcess | undefined>;
  close(): Promise<void>;
}

/**
 * A privilege that the service's role should not have. BYPASSES_ROW_SECURITY: the role is a superuser or has BYPASSRLS.
 * OWNS_TABLES: the role can change or delete rows of the audit trail, as the owner of its table can.
 */
export type RoleExcess = "BYPASSES_ROW_SECURITY" | "OWNS_TABLES";

const EXCESS = `SELECT current_setting('citus.version', true) IS NULL AS plans_once,
  CASE WHEN rolsuper OR rolbypassrls THEN 'BYPASSES_ROW_SECURITY'
    WHEN has_table_privilege(to_regclass('audit_events'), 'UPDATE, DELETE, TRUNCATE') THEN 'OWNS_TABLES' END AS excess
  FROM pg_roles WHERE rolname = current_user`;
const DATE_OID = 1082;
const DATE_ARRAY_OID = 1182;

/**
 * Opens the pool without connecting, so that the service can start while the database is unreachable. Connections use
 * pipelining: several statements share a round trip.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const url = new URL(options.url);
  let namedStatements = url.searchParams.get("prepared_statements") !== "false";
  let plansOnce = false;
  url.searchParams.delete("prepared_statements");
  const pool = openPool(url, options);
  const { acquire, discardConnections } = countGenerations(pool, options.onAcquired);
  const whenUnreachable = [discardConnections];
  const monitor = monitorReachability(pool, options, () => whenUnreachable.forEach((tell) => tell()));
  breakSilentConnections(pool, options.queryTimeoutMs);
  return {
    pool,
    get namedStatements() {
      return namedStatements;
    },
    get plansOnce() {
      return plansOnce;
    },
    unnameStatements() {
      if (namedStatements) options.onStatementsUnnamed?.();
      namedStatements = false;
    },
    discardConnections,
    whenUnreachable: (listener) => void whenUnreachable.push(listener),
    acquire: () => (monitor.isUnreachable ? Promise.reject(new Error("the database is unreachable")) : acquire()),
    async findExcessOfRole() {
      const { rows } = await pool.query<{ plans_once: boolean; excess: RoleExcess | null }>(EXCESS);
      plansOnce = rows[0]?.plans_once ?? false;
      return rows[0]?.excess ?? undefined;
    },
    close() {
      monitor.close();
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

/** Returns type parsers that keep dates as text (`YYYY-MM-DD`). A JavaScript Date would depend on a time zone. */
function datesAsText(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(DATE_OID, (text: string) => text);
  types.setTypeParser(DATE_ARRAY_OID, (text: string) => text.match(/[\d-]+/g) ?? []);
  return types;
}

/**
 * Gives each new connection the number of the current generation. `discardConnections` begins a new generation.
 * `acquire` closes connections of older generations instead of returning them.
 */
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

/**
 * Calls `whenUnreachable` when the database becomes unreachable. Calls `onUnreachable` with true then, and with false
 * when the database is reachable again.
 */
function monitorReachability(
  pool: Pool,
  { url, reachability, onUnreachable }: DatabaseOptions,
  whenUnreachable: () => void,
): ReachabilityMonitor {
  const { host, port } = new Client({ connectionString: url });
  const monitor = new ReachabilityMonitor({
    ...reachability,
    address: { host, port },
    onUnreachable(isUnreachable) {
      if (isUnreachable) whenUnreachable();
      onUnreachable?.(isUnreachable);
    },
  });
  pool.on("acquire", (client) => monitor.begin(socketOf(client)));
  pool.on("release", (_, client) => monitor.end(socketOf(client)));
  return monitor;
}

/**
 * Destroys a connection in use after `timeoutMs` without traffic. The socket's own timeout costs less than pg's
 * `query_timeout`, which starts and stops a timer for each statement.
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
  if (!(stream instanceof Socket)) throw new Error("the connection to the database must be a socket");
  return stream;
}

/** Ignores the error event of a broken connection, because the promises of its running statements reject anyway. */
function ignoreError(): void {}
