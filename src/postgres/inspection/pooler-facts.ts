import { type Inspection, openInspection } from "./open-inspection.js";

/**
 * What stands between the service and the server: nothing that shows, a pooler that gives each session a connection of its own
 * as far as it can be seen, or one that gives each transaction any.
 */
export type Pooler = "NONE" | "SESSIONS" | "TRANSACTIONS";

const SERVED_BY = "SELECT pg_backend_pid() AS pid";

/**
 * Finds out by two connections that are open at once. A pooler greets each of them with a number of its own, and not with that of
 * the process at the server; where one process has served both, their connections are not their own.
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
