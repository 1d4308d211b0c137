import { execute } from "../support/database.js";
import type { DistributedTables } from "./statement-tenants.js";

/** Returns the tables of tenants in a migrated database: those with a tenant_id. Partitions count as their table. */
export async function readDistributedTables(url: string): Promise<DistributedTables> {
  const rows = await execute(
    url,
    `SELECT relname, EXISTS (
       SELECT FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE a.attrelid = c.oid AND (a.attidentity <> ''
         OR pg_get_expr(d.adbin, d.adrelid) ~ '(clock_timestamp|gen_random_uuid|nextval)')) AS fills
     FROM pg_class c WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
       AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id')`,
  );
  return {
    names: new Set(rows.map(({ relname }) => String(relname))),
    selfFilling: new Set(rows.filter(({ fills }) => fills === true).map(({ relname }) => String(relname))),
  };
}
