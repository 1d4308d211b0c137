import { type ClientBase, DatabaseError, type Pool } from "pg";
import { JOB_QUEUE_REVISION, knownMigrations } from "./known-migrations.js";

const APPLIED = `SELECT ARRAY(SELECT name FROM schema_migrations ORDER BY name COLLATE "C") AS names,
  (SELECT max(id) FROM graphile_worker.migrations) AS revision`;

/** Of a relation, a schema or a right that is not there. */
const MISSING = new Set(["42P01", "3F000", "42501"]);

/**
 * Whether the schema is exactly that of this release, as it is at all starts but the first: in one statement, over the service's
 * own connections. Where it is not, or cannot be seen, it is for `migrate` to say what is to be done.
 */
export async function isUpToDate(connections: Pool | ClientBase): Promise<boolean> {
  const known = await knownMigrations();
  try {
    const { rows } = await connections.query<{ names: string[]; revision: number | null }>(APPLIED);
    const [{ names, revision } = { names: [], revision: null }] = rows;
    return (revision ?? 0) >= JOB_QUEUE_REVISION && names.join() === known.join();
  } catch (error) {
    if (error instanceof DatabaseError && MISSING.has(error.code ?? "")) return false;
    throw error;
  }
}
