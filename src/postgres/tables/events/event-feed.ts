import type { Effect, Transaction } from "../../../call.js";
import { tenantSuspended } from "../../../errors.js";
import { readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** The action of an event: a change of a resource, or a time that was reached, such as the time of a reminder. */
export type EventAction = Effect["action"] | "REMINDER_DUE" | "NO_SHOW_DUE" | "EXPIRED";

/** An event of a tenant: its position in the feed and the data of its audit row. */
export interface EventRecord {
  readonly position: number;
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly action: EventAction;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceVersion: number | undefined;
  readonly correlationId: string;
  /**
   * The organization and company of the resource. Only principals who see the resource receive the event. An undefined
   * id restricts nothing.
   */
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
}

/** A position in the feed of a tenant. Reading continues after the event at this position. */
export interface FeedCursor {
  /**
   * Lower-case UUID. After a restore from a backup, the operator must give the feed another id. Cursors from before the
   * restore are then rejected.
   */
  readonly feedId: string;
  readonly position: number;
}

/** A page of a tenant's feed, as of one instant. */
export interface FeedPage {
  readonly feedId: string;
  /** Ordered by position. */
  readonly events: readonly EventRecord[];
  /** The last position of the whole feed, not only of this page. */
  readonly lastPosition: number;
  /** Whether at least one committed event of the tenant has no position in the feed yet. */
  readonly isOutstanding: boolean;
}

/** The maximum number of events that get positions in one statement. */
export const MAX_ASSIGNED = 1_000;

const readStatement = prepared(["tenant", "after", "limit"], ({ tenant, after, limit }) =>
  sql.raw(
    `SELECT f.feed_id, f.last_position, EXISTS (SELECT FROM event_outbox o WHERE o.tenant_id = ?) AS is_outstanding, e.*
     FROM event_feeds f LEFT JOIN LATERAL (
       SELECT p.position, p.organization_id, p.company_id, a.id AS event_id, a.occurred_at, a.action, a.resource_type,
         a.resource_id, a.resource_version, a.correlation_id
       FROM event_positions p JOIN audit_events a ON a.tenant_id = ? AND a.id = p.audit_event_id
       WHERE p.tenant_id = ? AND p.position > ? ORDER BY p.position LIMIT ?) e ON true
     WHERE f.tenant_id = ? ORDER BY e.position`,
    [tenant, tenant, tenant, after, limit, tenant],
  ),
);

/**
 * Fails by a division by zero and inserts nothing for a tenant that is being erased or erased. A tenant without a row
 * in the table `tenants` counts as active.
 */
const addFeed = prepared(["tenant_id"], (row) =>
  sql
    .queryBuilder()
    .with("added", sql("event_feeds").insert(row).onConflict().ignore())
    .select(sql.raw("1 / (state NOT IN ('ERASING', 'ERASED'))::integer"))
    .from("tenants")
    .where(row),
);

const lockFeed = prepared(["tenant_id"], (key) => sql("event_feeds").where(key).select("feed_id").forNoKeyUpdate());

const assignStatement = prepared(["tenant", "limit"], ({ tenant, limit }) =>
  sql.raw(
    `WITH due AS (SELECT sequence FROM event_outbox WHERE tenant_id = ? ORDER BY sequence LIMIT ?),
     moved AS (
       DELETE FROM event_outbox o USING due WHERE o.tenant_id = ? AND o.sequence = due.sequence
       RETURNING o.sequence, o.audit_event_id, o.organization_id, o.company_id),
     placed AS (
       INSERT INTO event_positions (tenant_id, position, audit_event_id, organization_id, company_id)
       SELECT f.tenant_id, f.last_position + row_number() OVER (ORDER BY m.sequence), m.audit_event_id, m.organization_id,
         m.company_id
       FROM moved m CROSS JOIN event_feeds f WHERE f.tenant_id = ?
       RETURNING position),
     advanced AS (
       UPDATE event_feeds SET last_position = last_position + (SELECT count(*) FROM placed) WHERE tenant_id = ?
       RETURNING last_position)
     SELECT last_position FROM advanced`,
    [tenant, limit, tenant, tenant, tenant],
  ),
);

const oldestStatement = prepared(["tenant"], ({ tenant }) =>
  sql.raw(
    `SELECT coalesce((SELECT min(position) - 1 FROM event_positions WHERE tenant_id = ?), last_position) AS position
     FROM event_feeds WHERE tenant_id = ?`,
    [tenant, tenant],
  ),
);

/**
 * Returns a page with at most `limit` events after a position. Returns undefined if the tenant has no feed yet;
 * {@link assignNextPositions} creates the feed.
 */
export async function readFeed(transaction: Transaction, after: number, limit: number): Promise<FeedPage | undefined> {
  const rows = await transaction.rows<FeedRow>(readStatement({ tenant: transaction.tenantId, after, limit }));
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    feedId: first.feed_id,
    lastPosition: Number(first.last_position),
    isOutstanding: first.is_outstanding,
    events: rows.flatMap((row) => (row.position === null ? [] : [toEvent(row)])),
  };
}

/**
 * Assigns the next positions of the feed to at most {@link MAX_ASSIGNED} committed events that have no position yet.
 * These are the rows of `event_outbox`; the lowest `sequence` comes first. Creates the feed if the tenant has none.
 * Does not wait for the results. For a tenant that is being erased or erased, the transaction fails with a conflict.
 *
 * Locks the feed until the transaction ends, so that only one transaction at a time assigns positions. The lock has its
 * own statement: the next statement then sees all events that were committed before the lock.
 */
export function assignNextPositions(transaction: Transaction): void {
  const key = { tenant_id: transaction.tenantId };
  transaction.require({ required: addFeed(key) }, tenantSuspended);
  transaction.send(lockFeed(key));
  transaction.send(assignStatement({ tenant: transaction.tenantId, limit: MAX_ASSIGNED }));
}

/**
 * Returns the position before the oldest event in the feed. Returns the last position if the feed has no events, and 0
 * if the tenant has no feed.
 */
export async function findOldestPosition(transaction: Transaction): Promise<number> {
  const statement = oldestStatement({ tenant: transaction.tenantId });
  const [row] = await readRecords<{ readonly position: string }>(transaction, statement);
  return Number(row?.position ?? 0);
}

/**
 * Returns whether a page continues the feed after a cursor without a gap. Pass the page that {@link readFeed} returned
 * for the position of the cursor. Returns false in these cases:
 * - Events after the cursor were purged.
 * - The cursor is from another feed, or the operator gave the feed a new id after the cursor was issued.
 * - The position of the cursor is after the end of the feed, as can happen after a restore from a backup.
 */
export function goesOn({ feedId, events, lastPosition }: FeedPage, cursor: FeedCursor): boolean {
  if (feedId !== cursor.feedId || lastPosition < cursor.position) return false;
  if (events.length === 0) return lastPosition === cursor.position;
  return events.every(({ position }, index) => position === cursor.position + index + 1);
}

interface FeedRow {
  readonly feed_id: string;
  readonly last_position: string;
  readonly is_outstanding: boolean;
  /**
   * Null if the feed has no event after the requested position. All attributes below are then null too, whatever their
   * type.
   */
  readonly position: string | null;
  readonly organization_id: string | null;
  readonly company_id: string | null;
  readonly event_id: string;
  readonly occurred_at: Date;
  readonly action: EventRecord["action"];
  readonly resource_type: string;
  readonly resource_id: string;
  readonly resource_version: number | null;
  readonly correlation_id: string;
}

function toEvent(row: FeedRow): EventRecord {
  return {
    position: Number(row.position),
    eventId: row.event_id,
    occurredAt: row.occurred_at,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    resourceVersion: row.resource_version ?? undefined,
    correlationId: row.correlation_id,
    organizationId: row.organization_id ?? undefined,
    companyId: row.company_id ?? undefined,
  };
}
