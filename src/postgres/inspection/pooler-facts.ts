import { type Inspection, openInspection } from "./open-inspection.js";

/**
 * The connection pooler between the service and the server. NONE: none was detected. SESSIONS: the pooler appears to
 * give each session its own server connection. TRANSACTIONS: the pooler gives each transaction any server connection.
 */
export type Pooler = "NONE" | "SESSIONS" | "TRANSACTIONS";

const SERVED_BY = "SELECT pg_backend_pid() AS pid";

/**
 * Returns the kind of pooler at `url`. Opens a second connection while the connection `first` is open.
 * - If one server process serves both connections, returns TRANSACTIONS.
 * - If the process id that `first` received is not the id of its server process, returns SESSIONS: a pooler sends a
 *   process id of its own when a connection opens.
 * - Otherwise returns NONE.
 */
export async function findPooler(url: string, first: Inspection): Promise<Pooler> {
  const second = await openInspection(url);
  try {
    const [one, other] = [await servedBy(first), await servedBy(second)];
    if (one === other) return "TRANSACTIONS";
    return first.greetedBy() === one ? "NONE" : "SESSIONS";
  } finally {
    await second.close();
  }
}

async function servedBy(inspection: Inspection): Promise<number | undefined> {
  const [row] = await inspection.rows<{ pid: number }>(SERVED_BY);
  return row?.pid;
}
