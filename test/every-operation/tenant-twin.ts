import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { TestService } from "../support/service.js";

/** A copy of a tenant. Its resources are those of the original under other ids. */
export interface TenantTwin {
  /** Returns the id of some resource in a table. Throws if the tenant has none. */
  someId(table: string): Promise<string>;
  /** Returns a request to the original with the ids of the copy. */
  requestOf(request: JsonObject): JsonObject;
  /** Returns a digest of all rows by table. */
  digest(): Promise<Record<string, unknown>>;
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const COLUMNS = `
  SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY a.attnum`;

/** Copies every row of a tenant in the database, with a new id for each id. */
export async function createTwin(service: TestService, tenantId: string, twinId: string): Promise<TenantTwin> {
  const tables = new Map<string, [column: string, type: string][]>();
  for (const row of await service.query(COLUMNS)) {
    const { table, column, type } = row as Readonly<Record<"table" | "column" | "type", string>>;
    tables.set(table, [...(tables.get(table) ?? []), [column, type]]);
  }
  for (const [table, columns] of tables) if (!columns.some(([name]) => name === "tenant_id")) tables.delete(table);
  const copies = Array.from(tables, ([table, columns]) => copyOf(table, columns, tenantId, twinId));
  await service.query(["BEGIN", "SET LOCAL session_replication_role = replica", ...copies, "COMMIT"].join(";\n"));
  return {
    async someId(table) {
      const [row] = await service.query(`SELECT id FROM ${table} WHERE tenant_id = '${twinId}' ORDER BY id LIMIT 1`);
      if (row === undefined) throw new Error(`the other tenant has no row in ${table}`);
      return String(row["id"]);
    },
    requestOf: (request) =>
      JSON.parse(JSON.stringify(request).replace(UUID, (id) => copiedId(id, twinId))) as JsonObject,
    async digest() {
      const digests = Array.from(tables.keys(), (table) => {
        const rows = `SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${table} t WHERE tenant_id = '${twinId}'`;
        return `(${rows}) AS ${table}`;
      });
      const [row = {}] = await service.query(`SELECT ${digests.join()}`);
      return row;
    },
  };
}

function copyOf(
  table: string,
  columns: readonly (readonly [column: string, type: string])[],
  tenantId: string,
  twinId: string,
): string {
  const names = columns.map(([column]) => column).join();
  const values = columns.map(([column, type]) => {
    if (column === "tenant_id") return `'${twinId}'`;
    return type === "uuid" ? `md5(${column}::text || '${twinId}')::uuid` : column;
  });
  return `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE SELECT ${values.join()} FROM ${table} WHERE tenant_id = '${tenantId}' ON CONFLICT DO NOTHING`;
}

/** The id that {@link copyOf} computes in the database. */
function copiedId(id: string, twinId: string): string {
  const hex = createHash("md5").update(`${id}${twinId}`).digest("hex");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
