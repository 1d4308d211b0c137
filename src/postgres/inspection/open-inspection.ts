import { Client, type QueryResultRow } from "pg";

/** A connection that only reads. */
export interface Inspection {
  /**
   * Returns the rows of one query, which runs in its own read-only transaction. The settings of the database and of the
   * role do not change the text of the rows, and do not end the query: see {@link SETTINGS} and {@link NO_TIMEOUT}.
   * Rejects if a statement is not answered within 10 s. BEGIN, the settings, the query and ROLLBACK each have this
   * limit.
   */
  rows<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Returns the process id that the server sent when the connection was opened (BackendKeyData). A pooler sends a
   * number of its own. Returns undefined if the driver has no process id.
   */
  greetedBy(): number | undefined;
  close(): Promise<void>;
}

const CONNECT_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;

/** Sets PostgreSQL's defaults for the settings that change how definitions and times are written. */
const SETTINGS = `SELECT set_config('DateStyle', 'ISO', true), set_config('IntervalStyle', 'postgres', true),
  set_config('quote_all_identifiers', 'off', true), set_config('standard_conforming_strings', 'on', true)`;

/** Replaces the limit of the role or database, which may be too short even for {@link SETTINGS}. */
const NO_TIMEOUT = "SET LOCAL statement_timeout = 0";

/** Opens a connection that only reads. Rejects with the driver's error if it cannot connect within 5 s. */
export async function openInspection(url: string): Promise<Inspection> {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const client = new Client({
    connectionString: address.href,
    application_name: "cupo-doctor",
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // If a password is missing, the driver leaves the connection open and the server waits a minute for the password.
    void client.end().catch(() => undefined);
    throw error;
  }
  return {
    async rows<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      await client.query("BEGIN READ ONLY");
      try {
        await client.query(NO_TIMEOUT);
        await client.query(SETTINGS);
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.query("ROLLBACK");
      }
    },
    greetedBy: () => ("processID" in client && typeof client.processID === "number" ? client.processID : undefined),
    close: () => client.end(),
  };
}
