import type { Inspection } from "./open-inspection.js";

/** State of a database that has the extension Citus. */
export interface CitusFacts {
  /** The number of servers that can have shards. */
  readonly servers: number;
  /** The number of distributed tables with a column tenant_id. */
  readonly distributed: number;
  /** The names of the tables with a column tenant_id that are not distributed. */
  readonly local: readonly string[];
  /** Whether Citus sends SET LOCAL to the workers. Row-level security on the workers needs these settings. */
  readonly sendsSettings: boolean;
}

interface Row {
  readonly servers: number;
  readonly distributed: number;
  readonly local: string[];
  readonly sends_settings: boolean;
}

const HAS_CITUS = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS has_citus";

const FACTS = `WITH tables AS (
    SELECT c.relname::text AS name, EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid) AS is_distributed
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped))
  SELECT (SELECT count(*)::integer FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary') AS servers,
    (SELECT count(*)::integer FROM tables WHERE is_distributed) AS distributed,
    ARRAY(SELECT name FROM tables WHERE NOT is_distributed ORDER BY name) AS local,
    current_setting('citus.propagate_set_commands') = 'local' AS sends_settings`;

/** Returns the state of Citus; undefined for a database without Citus. */
export async function readCitusFacts(inspection: Inspection): Promise<CitusFacts | undefined> {
  const [found] = await inspection.rows<{ has_citus: boolean }>(HAS_CITUS);
  if (found?.has_citus !== true) return undefined;
  const [row] = await inspection.rows<Row>(FACTS);
  if (row === undefined) return undefined;
  const { servers, distributed, local, sends_settings: sendsSettings } = row;
  return { servers, distributed, local, sendsSettings };
}
