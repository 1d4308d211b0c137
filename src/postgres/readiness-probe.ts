import { Pool, type PoolClient } from "pg";

/** Asks the database whether it can be worked with. */
export interface ReadinessProbe {
  /** Whether the database takes writes, within a second: false where it is away, or read-only as after a failover. */
  takesWrites(): Promise<boolean>;
  close(): Promise<void>;
}

/** How the probe reaches the database. */
export interface ReadinessProbeOptions {
  /** postgres:// URL, as of the service's own pool. */
  readonly url: string;
  /** Told that the database takes no writes: what is connected to it may be connected to what is not the primary any more. */
  readonly onReadOnly: () => void;
}

const WITHIN_MS = 800;

/** A connection of its own, so that a service whose connections are all at work is not taken for one without a database. */
export function openReadinessProbe({ url, onReadOnly }: ReadinessProbeOptions): ReadinessProbe {
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
  const ask = async () => {
    const client = await pool.connect().catch(() => undefined);
    if (client === undefined) return false;
    const answer = await askWhether(client).catch(() => undefined);
    client.release(answer !== true);
    if (answer === false) onReadOnly();
    return answer === true;
  };
  return { takesWrites: () => inTime(ask()), close: () => pool.end() };
}

/** To connect and to be answered have a time limit each; both together have this one. */
function inTime(answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, WITHIN_MS, false)));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function askWhether(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  return rows[0]?.transaction_read_only === "off";
}

/** For a connection that breaks, while it is asked too: then the question fails, and the event says nothing more. */
function ignoreError(): void {}
