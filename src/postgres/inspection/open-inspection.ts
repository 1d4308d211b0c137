import { Client, type QueryResultRow } from "pg";

/** A connection to look at a database with, and to change nothing. */
export interface Inspection {
  /** The rows of one query, from a transaction of its own that is read-only. */
  rows<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The process that serves the connection, as the server names it when it greets; a pooler greets with a number of its own. */
  greetedBy(): number | undefined;
  close(): Promise<void>;
}

const CONNECT_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;

/** Connects; rejects as the driver does where that is not possible within five seconds. */
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
  await client.connect();
  return {
    async rows<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      await client.query("BEGIN READ ONLY");
      try {
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.query("ROLLBACK");
      }
    },
    greetedBy: () => ("processID" in client && typeof client.processID === "number" ? client.processID : undefined),
    close: () => client.end(),
  };
}
