import { Pool, type PoolClient } from "pg";

/** Checks whether the database accepts writes. */
export interface ReadinessProbe {
  /**
   * Returns within 0.8 s whether the database accepts writes. Returns false if the database is read-only, unreachable
   * or too slow.
   */
  takesWrites(): Promise<boolean>;
  close(): Promise<void>;
}

/** Options of the readiness probe. */
export interface ReadinessProbeOptions {
  /** postgres:// URL of the database, with the same parameters as the URL of the service's pool. */
  readonly url: string;
  /**
   * Called each time the database reports that it is read-only, and once when it accepts writes again. The caller
   * should then discard open connections, because they may lead to a former primary or stay read-only.
   */
  readonly onModeChanged: () => void;
}

const WITHIN_MS = 800;

/**
 * Opens a probe with its own connection. So the probe also works while calls use all connections of the service's pool.
 */
export function openReadinessProbe({ url, onModeChanged }: ReadinessProbeOptions): ReadinessProbe {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const pool = new Pool({
    connectionString: address.href,
    application_name: "cupo-readiness",
    max: 1,
    connectionTimeoutMillis: WITHIN_MS,
    query_timeout: WITHIN_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  pool.on("error", ignoreError);
  pool.on("connect", (client) => client.on("error", ignoreError));
  let wasReadOnly = false;
  const ask = async () => {
    const client = await pool.connect().catch(() => undefined);
    if (client === undefined) return false;
    const answer = await askWhether(client).catch(() => undefined);
    client.release(answer !== true);
    if (answer === false || (answer && wasReadOnly)) onModeChanged();
    if (answer !== undefined) wasReadOnly = !answer;
    return answer === true;
  };
  return { takesWrites: () => inTime(ask()), close: () => pool.end() };
}

/**
 * Returns the answer, or false if connecting and querying together take longer than 0.8 s. The pool applies the limit
 * to connecting and to querying separately.
 */
function inTime(answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, WITHIN_MS, false)));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function askWhether(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  return rows[0]?.transaction_read_only === "off";
}

/**
 * Ignores the event that a connection broke. If a query is running on the connection, its promise rejects, so the event
 * needs no handling.
 */
function ignoreError(): void {}
