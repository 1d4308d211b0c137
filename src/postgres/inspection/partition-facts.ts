import type { Inspection } from "./open-inspection.js";

/** How a table stands that is parted by month. */
export interface PartitionFacts {
  readonly table: string;
  /** For how many months it is kept; undefined: for good. */
  readonly keptMonths: number | undefined;
  /** Before when what is made has a partition. */
  readonly madeBefore: Date;
  /** Whether what is made now and in the next four weeks has a partition. */
  readonly isAhead: boolean;
  /** Whether there are rows without a partition, or were since the table was vacuumed last. */
  readonly hasRest: boolean;
}

interface Row {
  readonly name: string;
  readonly kept_months: number | null;
  readonly made_before: Date;
  readonly is_ahead: boolean;
  readonly has_rest: boolean;
}

const FACTS = `SELECT t.table_name AS name, t.kept_months, pg_relation_size(t.table_name || '_rest') > 0 AS has_rest,
    (SELECT max(p.made_before) FROM cupo_partitions(t.table_name) p) AS made_before,
    NOT EXISTS (SELECT FROM unnest(ARRAY[now(), now() + interval '28 days']) AS moment WHERE NOT EXISTS (
      SELECT FROM cupo_partitions(t.table_name) p
      WHERE coalesce(p.made_from, '-infinity') <= moment AND p.made_before > moment)) AS is_ahead
  FROM schema_partitions t ORDER BY t.table_name`;

/** Asks of every table that is parted. Rejects where there is none yet. */
export async function readPartitionFacts(inspection: Inspection): Promise<PartitionFacts[]> {
  const rows = await inspection.rows<Row>(FACTS);
  return rows.map((row) => ({
    table: row.name,
    keptMonths: row.kept_months ?? undefined,
    madeBefore: row.made_before,
    isAhead: row.is_ahead,
    hasRest: row.has_rest,
  }));
}
