import { type PurgedBatch, purgeBatch, purgeStatement } from "../../purge-batch.js";
import { runAcrossTenants, type TransactionSource } from "../../run-transaction.js";
import { sql } from "../../sql.js";
import { findChangedFeeds } from "../events/event-overview.js";

/** Deliveries are kept for this many hours: 30 days, the same as events. */
const DELIVERY_RETENTION_HOURS = 30 * 24;

const SCOPE = { setting: "cupo.event_overview", value: "on" } as const;

/** The id of a webhook and the id of its tenant. */
export interface WebhookKey {
  readonly tenantId: string;
  readonly webhookId: string;
}

const ACTIVE = `SELECT tenant_id AS "tenantId", id AS "webhookId" FROM webhooks
  WHERE tenant_id = ANY(?::uuid[]) AND state = 'ACTIVE'`;

/** Finds the active webhooks without a lease. The lease of a killed process lasts until `leased_until`. */
const FREE = `SELECT tenant_id AS "tenantId", id AS "webhookId", position FROM webhooks
  WHERE state = 'ACTIVE' AND (leased_until IS NULL OR leased_until < now())`;

const DUE = `SELECT DISTINCT webhook_id AS id FROM webhook_deliveries WHERE state = 'PENDING' AND next_attempt_at <= now()`;

const INACTIVE = "SELECT id, state FROM webhooks WHERE state <> 'ACTIVE'";

const PENDING = `SELECT count(*)::integer AS pending,
    coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "oldestSeconds"
  FROM webhook_deliveries WHERE state = 'PENDING' AND webhook_id <> ALL(?::uuid[])`;

const PURGE = purgeStatement({
  table: "webhook_deliveries",
  key: ["tenant_id", "webhook_id", "id"],
  time: "created_at",
});

/** Returns the keys of the active webhooks of these tenants. */
export function findActiveWebhooks(source: TransactionSource, tenantIds: readonly string[]): Promise<WebhookKey[]> {
  return runAcrossTenants(source, SCOPE, (transaction) =>
    transaction.rows<WebhookKey>(sql.raw(ACTIVE, [tenantIds as string[]])),
  );
}

/**
 * Searches the webhooks of all tenants. Returns each active webhook for which there may be new events, or for which the
 * next attempt of a pending delivery is due. Omits webhooks that have a lease.
 */
export async function findWaitingWebhooks(source: TransactionSource): Promise<WebhookKey[]> {
  const [free, due] = await runAcrossTenants(source, SCOPE, (transaction) =>
    Promise.all([
      transaction.rows<WebhookKey & { readonly position: string }>(sql.raw(FREE)),
      transaction.rows<{ readonly id: string }>(sql.raw(DUE)),
    ]),
  );
  const positions = new Map<string, number>();
  for (const { tenantId, position } of free) {
    positions.set(tenantId, Math.min(positions.get(tenantId) ?? Number.POSITIVE_INFINITY, Number(position)));
  }
  const changed = await findChangedFeeds(source, positions);
  const dueIds = new Set(due.map(({ id }) => id));
  return free.filter(({ tenantId, webhookId }) => changed.has(tenantId) || dueIds.has(webhookId));
}

/** State of the deliveries and webhooks of all tenants. */
export interface WebhookState {
  /** The number of pending deliveries of active webhooks. */
  readonly pending: number;
  /** The age of the oldest pending delivery of an active webhook, in seconds; 0 if there is none. */
  readonly oldestSeconds: number;
  readonly disabled: number;
}

/** Returns the state of the webhooks and deliveries of all tenants, by the database's clock. */
export function readWebhookState(source: TransactionSource): Promise<WebhookState> {
  return runAcrossTenants(source, SCOPE, async (transaction) => {
    const inactive = await transaction.rows<{ readonly id: string; readonly state: string }>(sql.raw(INACTIVE));
    const ids = inactive.map(({ id }) => id);
    const [found] = await transaction.rows<Omit<WebhookState, "disabled">>(sql.raw(PENDING, [ids]));
    const disabled = inactive.filter(({ state }) => state === "DISABLED").length;
    return { pending: 0, oldestSeconds: 0, ...found, disabled };
  });
}

/**
 * Deletes at most `limit` deliveries that were created more than `retentionHours` hours ago. Covers the deliveries of
 * all tenants, and begins with the oldest. If `since` is defined, skips deliveries that were created before this time,
 * because earlier batches have deleted them.
 */
export function purgeDeliveryBatch(
  source: TransactionSource,
  limit: number,
  since?: Date,
  retentionHours: number = DELIVERY_RETENTION_HOURS,
): Promise<PurgedBatch> {
  return purgeBatch(source, PURGE, `${retentionHours} hours`, limit, since);
}
