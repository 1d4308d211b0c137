import { Client, type ClientConfig, Pool, type PoolClient } from "pg";

/** The connections of the job queue. */
export type JobQueuePool = Pool;

/** How the job queue reaches its database. */
export interface JobQueuePoolOptions {
  /** postgres:// URL, as of the service's own pool. */
  readonly url: string;
  readonly maxConnections: number;
  readonly onIdleError: (error: Error) => void;
}

const CONNECT_MS = 5_000;

/**
 * Gives up a connection that cannot be made. The pool's own option of this name would also give up who waits for one that is in
 * use, as long as a job may take: the queue could not say any more that a job is done.
 */
class ConnectingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super({
      ...(typeof config === "string" ? { connectionString: config } : config),
      connectionTimeoutMillis: CONNECT_MS,
    });
  }
}

/** A small pool for the job queue, which listens on one of its connections and sends nothing ahead on any. */
export function openJobQueuePool({ url, maxConnections, onIdleError }: JobQueuePoolOptions): JobQueuePool {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const pool = new Pool({
    connectionString: address.href,
    application_name: "cupo-jobs",
    max: maxConnections,
    Client: ConnectingClient,
    keepAlive: true,
  });
  pool.on("error", onIdleError);
  pool.on("connect", (client) => client.on("error", ignoreError));
  return pool;
}

/**
 * Breaks the connections of a queue that are there from now on, whenever it is called: over a network that swallowed what was said, the
 * queue would wait for ever, since its statements have no time limit.
 */
export function breakerOf(pool: JobQueuePool): () => void {
  const open = new Set<PoolClient>();
  pool.on("connect", (client) => open.add(client));
  pool.on("remove", (client) => open.delete(client));
  return () => {
    for (const { connection } of open) connection.stream.destroy(new Error("nothing is heard of the database"));
  };
}

/** For a connection that breaks while the queue holds it: the queue's own statements fail, and the event says nothing more. */
function ignoreError(): void {}
