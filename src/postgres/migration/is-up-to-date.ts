import { type ClientBase, DatabaseError, type Pool } from "pg";
import { JOB_QUEUE_REVISION, knownMigrations } from "./known-migrations.js";

const APPLIED = `SELECT ARRAY(SELECT name FROM schema_migrations ORDER BY name COLLATE "C") AS names,
  (SELECT max(id) FROM graphile_worker.migrations) AS revision,
  (SELECT kept_months IS NOT DISTINCT FROM $1::integer FROM schema_partitions WHERE table_name = 'audit_events')
    OR NOT has_table_privilege('schema_partitions', 'UPDATE') AS is_kept_so`;

interface Row {
  readonly names: string[];
  readonly revision: number | null;
  readonly is_kept_so: boolean;
}

/** SQLSTATEs for a missing relation, schema or right. */
const MISSING = new Set(["42P01", "3F000", "42501"]);

/**
 * Returns true if all these conditions are met:
 * - The database has exactly the migrations of this release.
 * - The job queue is up to date.
 * - The audit trail is kept for `auditRetentionMonths` (undefined: without limit). This condition is not checked if the
 *   role has no right to change the retention.
 *
 * Returns false if a table or schema is missing or the role may not read it: `migrate` then reports what to do. Rejects
 * with any other error.
 */
export async function isUpToDate(connections: Pool | ClientBase, auditRetentionMonths?: number): Promise<boolean> {
  const known = await knownMigrations();
  try {
    const { rows } = await connections.query<Row>(APPLIED, [auditRetentionMonths ?? null]);
    const [row] = rows;
    if (row === undefined || !row.is_kept_so) return false;
    return (row.revision ?? 0) >= JOB_QUEUE_REVISION && row.names.join() === known.join();
  } catch (error) {
    if (error instanceof DatabaseError && MISSING.has(error.code ?? "")) return false;
    throw error;
  }
}
