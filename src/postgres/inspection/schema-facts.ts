import { JOB_QUEUE_REVISION, knownMigrations } from "../migration/known-migrations.js";
import { type Compatibility, incompatibleMigration } from "../migration/newer-migrations.js";
import type { Inspection } from "./open-inspection.js";

/** The differences between the migrations applied to the database and those of this release. */
export interface SchemaFacts {
  /** The last migration of this release. */
  readonly own: string;
  /** Migrations of this release that were not applied, in order. */
  readonly pending: readonly string[];
  /** Migrations that were applied and that this release does not have. */
  readonly newer: readonly string[];
  /**
   * The first migration in `newer` that does not declare itself compatible with this release; undefined if there is
   * none.
   */
  readonly incompatible: string | undefined;
  /** Whether the job queue has the migrations that its library needs. */
  readonly hasJobQueue: boolean;
}

/** Whether the role finds the tables of the schema `public` by their names, and what can prevent it. */
export interface SchemaAccess {
  /** Whether the search path contains `public` and the role has USAGE on it. */
  readonly isFound: boolean;
  readonly isUsable: boolean;
  readonly searchPath: string;
}

const ACCESS = `SELECT 'public' = ANY (current_schemas(false)) AS is_found, has_schema_privilege('public', 'USAGE') AS is_usable,
    current_setting('search_path') AS search_path`;
const APPLIED = "SELECT name FROM schema_migrations ORDER BY name";
const COMPATIBLE = "SELECT migration, oldest_release FROM schema_compatibility";
const REVISION = "SELECT max(id)::int AS revision FROM graphile_worker.migrations";

/**
 * Compares the applied migrations with the migrations of this release. A missing table counts as empty. Rejects if the
 * role has no right to read `schema_migrations`, `schema_compatibility` or `graphile_worker.migrations`.
 */
export async function readSchemaFacts(inspection: Inspection): Promise<SchemaFacts> {
  const known = await knownMigrations();
  const applied = (await rowsOf<{ name: string }>(inspection, "schema_migrations", APPLIED)).map(({ name }) => name);
  const newer = applied.filter((name) => !known.includes(name));
  const compatibilities = await rowsOf<Compatibility>(inspection, "schema_compatibility", COMPATIBLE);
  const [queue] = await rowsOf<{ revision: number }>(inspection, "graphile_worker.migrations", REVISION);
  const own = known.at(-1) ?? "";
  return {
    own,
    pending: known.filter((name) => !applied.includes(name)),
    newer,
    incompatible: incompatibleMigration(newer, compatibilities, own),
    hasJobQueue: (queue?.revision ?? 0) >= JOB_QUEUE_REVISION,
  };
}

/** Returns whether the role finds the tables of the schema `public`. */
export async function readSchemaAccess(inspection: Inspection): Promise<SchemaAccess> {
  const [row] = await inspection.rows<{ is_found: boolean; is_usable: boolean; search_path: string }>(ACCESS);
  return {
    isFound: row?.is_found === true,
    isUsable: row?.is_usable === true,
    searchPath: row?.search_path ?? "",
  };
}

/** Returns the rows of a query on a table; none if the table does not exist. */
async function rowsOf<Row extends object>(inspection: Inspection, table: string, query: string): Promise<Row[]> {
  const [found] = await inspection.rows<{ there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
  return found?.there === true ? inspection.rows<Row>(query) : [];
}
