import type { Inspection } from "./open-inspection.js";

/** State of a table that is partitioned by month. */
export interface PartitionFacts {
  readonly table: string;
  /** How many months the rows of the table are kept; undefined: without limit. */
  readonly keptMonths: number | undefined;
  /** The end of the newest monthly partition, exclusive. Rows created from then on go to the default partition. */
  readonly madeBefore: Date;
  /** Whether a monthly partition exists for rows created now and for rows created in 28 days. */
  readonly isAhead: boolean;
  /** Whether the default partition has rows, or had some since it was last vacuumed. */
  readonly hasRest: boolean;
  /** Whether Citus distributes the table. Then it also distributes each new partition. */
  readonly isDistributed: boolean;
}

interface Row {
  readonly name: string;
  readonly kept_months: number | null;
  readonly made_before: Date;
  readonly is_ahead: boolean;
  readonly has_rest: boolean;
  readonly is_distributed: boolean;
}

const FACTS = `SELECT t.table_name AS name, t.kept_months, cupo_has_rest(t.table_name) AS has_rest,
    cupo_is_distributed(t.table_name) AS is_distributed,
    (SELECT max(p.made_before) FROM cupo_partitions(t.table_name) p) AS made_before,
    NOT EXISTS (SELECT FROM unnest(ARRAY[now(), now() + interval '28 days']) AS moment WHERE NOT EXISTS (
      SELECT FROM cupo_partitions(t.table_name) p
      WHERE coalesce(p.made_from, '-infinity') <= moment AND p.made_before > moment)) AS is_ahead
  FROM schema_partitions t ORDER BY t.table_name`;

/** Returns the state of every partitioned table. Rejects if the schema has no partitioned tables yet. */
export async function readPartitionFacts(inspection: Inspection): Promise<PartitionFacts[]> {
  const rows = await inspection.rows<Row>(FACTS);
  return rows.map((row) => ({
    table: row.name,
    keptMonths: row.kept_months ?? undefined,
    madeBefore: row.made_before,
    isAhead: row.is_ahead,
    hasRest: row.has_rest,
    isDistributed: row.is_distributed,
  }));
}
