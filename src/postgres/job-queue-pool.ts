import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import { lastMigration } from "./migration/known-migrations.js";
import { servingName } from "./migration/serving-releases.js";

/** The connections of the two job queues of a process: those of `runJobs` and `runWebhookJobs`. */
export type JobQueuePool = Pool;

/** Options of the job queue's pool. */
export interface JobQueuePoolOptions {
  /** postgres:// URL of the database, with the same parameters as the URL of the service's pool. */
  readonly url: string;
  readonly maxConnections: number;
  readonly onIdleError: (error: Error) => void;
}

const CONNECT_MS = 5_000;

/**
 * A client that must connect within 5 s. The pool's option connectionTimeoutMillis is not used, because it would also
 * limit the wait for a free connection. This wait can be long while jobs use all connections. If the wait had a limit,
 * the queue could fail to mark a job as done.
 */
class ConnectingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super({
      ...(typeof config === "string" ? { connectionString: config } : config),
      connectionTimeoutMillis: CONNECT_MS,
    });
  }
}

/**
 * Opens a small pool for the job queues, without pipelining. Each of the two queues listens on a connection of its own,
 * so every serving process keeps two connections of this pool open. The application_name of the connections contains
 * the release, so that `migrate` can find the releases that are serving.
 */
export function openJobQueuePool({ url, maxConnections, onIdleError }: JobQueuePoolOptions): JobQueuePool {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const pool = new Pool({
    connectionString: address.href,
    application_name: servingName(lastMigration()),
    max: maxConnections,
    Client: ConnectingClient,
    keepAlive: true,
  });
  pool.on("error", onIdleError);
  pool.on("connect", (client) => client.on("error", ignoreError));
  return pool;
}

/**
 * Returns a function that destroys the queue's open connections. The queue's statements have no time limit: if a
 * network failure loses packets, the statements would otherwise wait until TCP gives up the connection.
 */
export function breakerOf(pool: JobQueuePool): () => void {
  const open = new Set<PoolClient>();
  pool.on("connect", (client) => open.add(client));
  pool.on("remove", (client) => open.delete(client));
  return () => {
    for (const { connection } of open)
      connection.stream.destroy(new Error("connection closed: the database is unreachable"));
  };
}

/**
 * Ignores the event that a connection broke while the queue held it. If a statement of the queue is running, its
 * promise rejects, so the event needs no handling.
 */
function ignoreError(): void {}
