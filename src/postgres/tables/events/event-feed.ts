import type { Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** An event of a tenant: its position in the feed, and what its audit row tells. */
export interface EventRecord {
  readonly position: number;
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly action: "CREATE" | "UPDATE" | "DELETE";
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceVersion: number | undefined;
  readonly correlationId: string;
  /** Those of the resource: who sees a resource is told of it, and nobody else. */
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
}

/** A place in the feed of a tenant: behind the event of a position. */
export interface FeedPlace {
  /** UUID in lower case. A feed that was set back has another one. */
  readonly feedId: string;
  readonly position: number;
}

/** A part of the feed of a tenant, as it was at one instant. */
export interface FeedPage {
  readonly feedId: string;
  /** In the order of their positions, without a gap. */
  readonly events: readonly EventRecord[];
  /** The position that the feed had come to, on this page or behind it. */
  readonly lastPosition: number;
  /** Whether something has committed that has no position yet. */
  readonly isOutstanding: boolean;
}

/** How many events get their positions in one turn, at most. */
export const MAX_PLACED = 1_000;

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

const addFeed = prepared(["tenant_id"], (row) => sql("event_feeds").insert(row).onConflict().ignore());

const lockFeed = prepared(["tenant_id"], (key) => sql("event_feeds").where(key).select("feed_id").forNoKeyUpdate());

const placeStatement = prepared(["tenant", "limit"], ({ tenant, limit }) =>
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
 * Reads the events behind a position, at most `limit`, and the state of the feed, in one statement and so as of one instant.
 * Undefined for a tenant whose feed has not begun, which {@link placeOutstanding} does.
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
 * Gives what has committed and has no position yet the next positions of the feed, in the order of the outbox, a thousand at
 * most. One at a time does so: the feed is locked until the transaction ends, and what is moved is looked for by a statement
 * of its own behind the lock, which sees what others committed meanwhile. Nothing is waited for here.
 */
export function placeOutstanding(transaction: Transaction): void {
  const key = { tenant_id: transaction.tenantId };
  transaction.send(addFeed(key));
  transaction.send(lockFeed(key));
  transaction.send(placeStatement({ tenant: transaction.tenantId, limit: MAX_PLACED }));
}

/** The position ahead of the oldest event that is kept. The feed has begun. */
export async function findOldestPosition(transaction: Transaction): Promise<number> {
  const statement = oldestStatement({ tenant: transaction.tenantId });
  const [row] = await readRecords<{ readonly position: string }>(transaction, statement);
  return Number(row?.position ?? 0);
}

/**
 * Whether a page that was read behind a place goes on from it without a gap. It does not where events are past their
 * retention, or where the feed is another than it was, as after a backup was restored.
 */
export function goesOn({ feedId, events, lastPosition }: FeedPage, place: FeedPlace): boolean {
  if (feedId !== place.feedId || lastPosition < place.position) return false;
  if (events.length === 0) return lastPosition === place.position;
  return events.every(({ position }, index) => position === place.position + index + 1);
}

interface FeedRow {
  readonly feed_id: string;
  readonly last_position: string;
  readonly is_outstanding: boolean;
  /** As the rest, null where there is no event behind the position. */
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
