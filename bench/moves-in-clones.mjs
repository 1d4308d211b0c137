import { rowsOf } from "./rows-of.mjs";

/** Where a job of the service, now and then, puts the rows of another table. */
const SUCCESSORS = { event_outbox: "event_positions" };
const MOVED = "SELECT count(*)::integer AS moved FROM appointments WHERE version > 1";

/**
 * Gives what `use` does with a clone of a database, which is dropped behind it.
 *
 * @template T
 * @param {Awaited<ReturnType<typeof import("./bench-database.mjs").openBenchDatabase>>} database
 * @param {(clone: Awaited<ReturnType<typeof database.clone>>) => Promise<T>} use
 */
export async function inClone(database, use) {
  const clone = await database.clone();
  try {
    return await use(clone);
  } finally {
    await clone.drop();
  }
}

/**
 * What was moved in a clone: how many rows each table has more than in the database that was cloned, and how many appointments
 * are no longer as they were booked.
 *
 * @param {{ query: (sql: string) => Promise<any[]> }} clone
 * @param {{ query: (sql: string) => Promise<any[]> }} database
 * @param {readonly string[]} tables
 * @returns {Promise<Record<string, number>>}
 */
export async function movesIn(clone, database, tables) {
  const [before, after] = [await contentOf(database, tables), await contentOf(clone, tables)];
  const [{ moved }] = await clone.query(MOVED);
  return { ...Object.fromEntries(tables.map((table) => [table, after(table) - before(table)])), moved };
}

async function contentOf(database, tables) {
  const rows = await rowsOf(database, [...tables, ...Object.values(SUCCESSORS)]);
  return (table) => rows.get(table) + (rows.get(SUCCESSORS[table]) ?? 0);
}
