import type { Statement } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** A system from which a tenant imports. The transaction has locked its row in `import_sources`. */
export interface LockedSource {
  readonly tenantId: string;
  readonly sourceSystem: string;
}

/**
 * Compiles a statement that inserts any number of rows of one tenant. Its text does not depend on the number of rows. A
 * row has a value for each of `columns`; the statement adds `tenant_id`. `ending` is the end of the statement, such as
 * RETURNING.
 *
 * The statement joins the rows to `import_sources`, because Citus rejects INSERT … SELECT from a function alone.
 */
export function bulkInsert(
  table: string,
  columns: readonly string[],
  ending = "",
): (source: LockedSource, rows: readonly object[]) => Statement {
  const selected = columns.map((column) => `r.${column}`).join(", ");
  const text = `INSERT INTO ${table} (tenant_id, ${columns.join(", ")})
    SELECT s.tenant_id, ${selected} ${fromRows(`jsonb_populate_recordset(NULL::${table}, :rows::jsonb) AS r`)} ${ending}`;
  const insert = prepared(["tenantId", "sourceSystem", "rows"], (names) => sql.raw(text, names));
  return (source, rows) => insert({ ...source, rows: JSON.stringify(rows) });
}

/**
 * Returns FROM and WHERE of a query over `rows`, a function call. The text binds the members of {@link LockedSource}.
 */
export function fromRows(rows: string): string {
  return `FROM import_sources s CROSS JOIN LATERAL ${rows}
    WHERE s.tenant_id = :tenantId AND s.source_system = :sourceSystem`;
}
