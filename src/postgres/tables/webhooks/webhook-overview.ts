import { type PurgedBatch, purgeBatch, purgeStatement } from "../../purge-batch.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";

/** How long deliveries are kept, in hours: 30 days, as events are. */
const DELIVERY_RETENTION_HOURS = 30 * 24;

const SCOPE = { setting: "cupo.event_overview", value: "on" } as const;

/** A webhook of any tenant. */
export interface WebhookKey {
  readonly tenantId: string;
  readonly webhookId: string;
}

const ACTIVE = `SELECT tenant_id AS "tenantId", id AS "webhookId" FROM webhooks
  WHERE tenant_id = ANY(?::uuid[]) AND state = 'ACTIVE'`;

/** A webhook whose process died has the lease of that process until it ends. */
const WAITING = `SELECT w.tenant_id AS "tenantId", w.id AS "webhookId" FROM webhooks w
  WHERE w.state = 'ACTIVE' AND (w.leased_until IS NULL OR w.leased_until < now()) AND (
    EXISTS (SELECT FROM event_outbox o WHERE o.tenant_id = w.tenant_id)
    OR EXISTS (SELECT FROM event_feeds f
      WHERE f.tenant_id = w.tenant_id AND (f.last_position > w.position OR f.feed_id <> w.feed_id))
    OR EXISTS (SELECT FROM webhook_deliveries d
      WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.id AND d.state = 'PENDING' AND d.next_attempt_at <= now()))`;

const STATE = `SELECT count(*)::integer AS pending,
    coalesce(extract(epoch FROM now() - min(d.created_at)), 0)::float8 AS "oldestSeconds"
  FROM webhook_deliveries d JOIN webhooks w ON w.tenant_id = d.tenant_id AND w.id = d.webhook_id
  WHERE d.state = 'PENDING' AND w.state = 'ACTIVE'`;

const DISABLED = "SELECT count(*)::integer AS disabled FROM webhooks WHERE state = 'DISABLED'";

const PURGE = purgeStatement({
  table: "webhook_deliveries",
  key: ["tenant_id", "webhook_id", "id"],
  time: "created_at",
});

/** Returns the active webhooks of these tenants. */
export function findActiveWebhooks(source: TransactionSource, tenantIds: readonly string[]): Promise<WebhookKey[]> {
  return runAcrossTenants(source, SCOPE, (transaction) =>
    transaction.rows<WebhookKey>(sql.raw(ACTIVE, [tenantIds as string[]])),
  );
}

/** Returns the active webhooks of all tenants that have work and that no process sends for. */
export function findWaitingWebhooks(source: TransactionSource): Promise<WebhookKey[]> {
  return runAcrossTenants(source, SCOPE, (transaction) => transaction.rows<WebhookKey>(sql.raw(WAITING)));
}

/** The deliveries of all tenants. */
export interface WebhookState {
  /** Pending deliveries of active webhooks, and the age of the oldest. */
  readonly pending: number;
  readonly oldestSeconds: number;
  readonly disabled: number;
}

/** Reads the state of the deliveries of all tenants. Time is the database's clock. */
export async function readWebhookState(source: TransactionSource): Promise<WebhookState> {
  const [[state], [count]] = await runAcrossTenants(source, SCOPE, (transaction) =>
    Promise.all([
      transaction.rows<Omit<WebhookState, "disabled">>(sql.raw(STATE)),
      transaction.rows<Pick<WebhookState, "disabled">>(sql.raw(DISABLED)),
    ]),
  );
  return { pending: 0, oldestSeconds: 0, disabled: 0, ...state, ...count };
}

/** Deletes at most `limit` deliveries of all tenants that are past their retention; see `PurgeBatch`. */
export function purgeDeliveryBatch(
  source: TransactionSource,
  limit: number,
  since?: Date,
  retentionHours: number = DELIVERY_RETENTION_HOURS,
): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, `${retentionHours} hours`, limit, since);
}
