import type { Statement } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** A system from which a tenant imports. The transaction must have locked the row of the system in `import_sources`. */
export interface LockedSource {
  readonly tenantId: string;
  readonly sourceSystem: string;
}

/**
 * Returns a function that makes a statement. The statement inserts any number of rows of one tenant into `table`. Its
 * text does not depend on the number of rows. Each row has a value for each of `columns`; the statement adds
 * `tenant_id`. `ending` is the end of the statement, such as RETURNING.
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
 * Returns the FROM and WHERE clauses of a query for rows that an SQL function returns. `rows` is the SQL that calls the
 * function. The clauses have the members of {@link LockedSource} as parameters.
 */
export function fromRows(rows: string): string {
  return `FROM import_sources s CROSS JOIN LATERAL ${rows}
    WHERE s.tenant_id = :tenantId AND s.source_system = :sourceSystem`;
}
