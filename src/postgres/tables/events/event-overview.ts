import { readOnlyRow } from "../../columns.js";
import { type PurgedBatch, purgeBatch, purgeStatement } from "../../purge-batch.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

/**
 * The default number of hours for which an event stays in a feed: 30 days. The time begins when the event gets its
 * position. Row-level security prevents a purge in the first 24 hours.
 */
const EVENT_RETENTION_HOURS = 30 * 24;

const SCOPE = { setting: "cupo.event_overview", value: "on" } as const;

const CHANGED = `SELECT tenant_id, last_position::text, false AS is_outstanding FROM event_feeds WHERE tenant_id = ANY(?::uuid[])
  UNION ALL SELECT DISTINCT tenant_id, '0', true FROM event_outbox WHERE tenant_id = ANY(?::uuid[])`;

const OUTSTANDING = "SELECT DISTINCT tenant_id AS id FROM event_outbox";

const OUTBOX_SIZE = "SELECT count(*)::integer AS count FROM event_outbox";

const OUTBOX_OLDEST = "SELECT audit_event_id AS id FROM event_outbox ORDER BY sequence LIMIT 1";

const PURGE = purgeStatement({ table: "event_positions", key: ["tenant_id", "position"], time: "positioned_at" });

/**
 * Returns the ids of the tenants in `known` that have new events: the last position of the feed is above the position
 * in `known`, or some of the tenant's events have no position yet. One statement reads all feeds.
 */
export async function findChangedFeeds(
  source: TransactionSource,
  known: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> {
  const tenants = [...known.keys()];
  const rows = await runAcrossTenants(source, SCOPE, (transaction) =>
    transaction.rows<{ tenant_id: string; last_position: string; is_outstanding: boolean }>(
      sql.raw(CHANGED, [tenants, tenants]),
    ),
  );
  const changed = rows.filter(
    (row) => row.is_outstanding || Number(row.last_position) > (known.get(row.tenant_id) ?? 0),
  );
  return new Set(changed.map((row) => row.tenant_id));
}

/** Returns the ids of the tenants that have events which do not yet have a position in the tenant's event feed. */
export async function findOutstandingTenants(source: TransactionSource): Promise<string[]> {
  const rows = await runAcrossTenants(source, SCOPE, (transaction) =>
    transaction.rows<{ id: string }>(sql.raw(OUTSTANDING)),
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the number of events that do not yet have a position in their tenant's event feed, over all tenants.
 * `oldestId` is the id of the audit row of the oldest of these events, a UUID of version 7. It is undefined if there
 * are none.
 */
export async function readOutbox(source: TransactionSource): Promise<{ count: number; oldestId: string | undefined }> {
  const [{ count }, [oldest]] = await runAcrossTenants(source, SCOPE, (transaction) =>
    Promise.all([
      readOnlyRow<{ readonly count: number }>(transaction, sql.raw(OUTBOX_SIZE)),
      transaction.rows<{ id: string }>(sql.raw(OUTBOX_OLDEST)),
    ]),
  );
  return { count, oldestId: oldest?.id };
}

/**
 * Removes at most `limit` events from the feeds of all tenants, but keeps the audit rows of these events. Removes only
 * events that got their position more than `retentionHours` hours ago, and begins with the oldest. If `since` is
 * defined, skips events that got their position before this time, because earlier batches have removed them.
 */
export function purgeEventBatch(
  source: TransactionSource,
  limit: number,
  since?: Date,
  retentionHours: number = EVENT_RETENTION_HOURS,
): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, `${retentionHours} hours`, limit, since);
}
