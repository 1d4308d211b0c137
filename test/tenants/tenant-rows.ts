import type { TestService } from "../support/service.js";

/** Every table with a column tenant_id, from information_schema. */
export async function tablesOfTenants(service: TestService): Promise<string[]> {
  const rows = await service.query(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN pg_class p ON p.relname = c.table_name
       AND p.relnamespace = 'public'::regnamespace AND NOT p.relispartition
     WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id' ORDER BY 1`,
  );
  return rows.map(({ name }) => String(name));
}

/** The number and a digest of the rows of a tenant, by table. */
export type TenantRows = Readonly<Record<string, { readonly count: number; readonly digest: string | null }>>;

/** Tables that reads write, and those in which background jobs note how far they are. */
const MOVING = new Set([
  "patient_access_records",
  "quota_windows",
  "event_feeds",
  "event_outbox",
  "event_positions",
  "time_event_progress",
]);

/** Reads the rows of a tenant in every table, without those that may move while nothing of the tenant changes. */
export async function rowsOf(service: TestService, tenantId: string): Promise<TenantRows> {
  const all: Record<string, TenantRows[string]> = {};
  for (const table of await tablesOfTenants(service)) {
    if (MOVING.has(table)) continue;
    const exceptReads = table === "audit_events" ? "AND action NOT LIKE 'EXPORT%'" : "";
    const [row] = await service.query(
      `SELECT count(*)::integer AS count, md5(string_agg(t::text, ',' ORDER BY t::text)) AS digest FROM ${table} t
       WHERE tenant_id = '${tenantId}' ${exceptReads}`,
    );
    all[table] = row as unknown as TenantRows[string];
  }
  return all;
}

/** Returns the tables that have a row of the tenant. */
export async function filledTables(service: TestService, tenantId: string): Promise<string[]> {
  const filled: string[] = [];
  for (const table of await tablesOfTenants(service)) {
    const found = await service.query(`SELECT 1 FROM ${table} WHERE tenant_id = '${tenantId}' LIMIT 1`);
    if (found.length > 0) filled.push(table);
  }
  return filled;
}
