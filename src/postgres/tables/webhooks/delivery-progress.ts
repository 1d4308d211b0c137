import type { Owner, Transaction } from "../../../call.js";
import { readOnlyRow, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import type { DeliveryRecord } from "./webhook-deliveries.js";
import { deliveryColumns } from "./webhook-deliveries.js";
import type { DisabledReason } from "./webhooks.js";

/** The deliveries that can be sent to a webhook now. */
export interface DueDeliveries {
  /**
   * The oldest pending delivery of each resource that is not busy, if the time of its next attempt has come. At most
   * `limit` deliveries, ordered by position in the event feed.
   */
  readonly heads: readonly DeliveryRecord[];
  /** The number of all pending deliveries of the webhook, including those that cannot be sent yet. */
  readonly pending: number;
}

const HEAD_COLUMNS = Object.entries(deliveryColumns)
  .map(([attribute, column]) => `${column} AS "${attribute}"`)
  .join(", ");

const headsStatement = prepared(["tenant", "webhook", "busy", "limit"], ({ tenant, webhook, busy, limit }) =>
  sql.raw(
    `SELECT ${HEAD_COLUMNS} FROM (
       SELECT DISTINCT ON (resource_type, resource_id) * FROM webhook_deliveries
       WHERE tenant_id = ? AND webhook_id = ? AND state = 'PENDING' ORDER BY resource_type, resource_id, position, id) AS head
     WHERE next_attempt_at <= now() AND resource_type || '/' || resource_id <> ALL(?::text[]) ORDER BY position, id LIMIT ?`,
    [tenant, webhook, busy, limit],
  ),
);

const countStatement = prepared(["tenant", "webhook"], ({ tenant, webhook }) =>
  sql.raw(
    "SELECT count(*)::integer AS pending FROM webhook_deliveries WHERE tenant_id = ? AND webhook_id = ? AND state = 'PENDING'",
    [tenant, webhook],
  ),
);

const nextStatement = prepared(["tenant", "webhook"], ({ tenant, webhook }) =>
  sql.raw(
    `SELECT min(next_attempt_at) AS next FROM (
       SELECT DISTINCT ON (resource_type, resource_id) next_attempt_at FROM webhook_deliveries
       WHERE tenant_id = ? AND webhook_id = ? AND state = 'PENDING' ORDER BY resource_type, resource_id, position, id) AS head`,
    [tenant, webhook],
  ),
);

const succeedStatement = prepared(
  ["state", "attempts", "status", "tenant", "webhook", "id"],
  ({ state, attempts, status, tenant, webhook, id }) =>
    sql.raw(
      `UPDATE webhook_deliveries SET state = ?, attempts = attempts + ?, last_attempt_at = now(), last_status = ?, last_failure = NULL
       WHERE tenant_id = ? AND webhook_id = ? AND id = ? AND state = 'PENDING'`,
      [state, attempts, status, tenant, webhook, id],
    ),
);

const TRIED = "tenant_id = ? AND webhook_id = ? AND id = ? AND state = 'PENDING'";

/**
 * Locks a pending delivery. Computes when the first attempt began, whether the `limit` hours for retries are over, and
 * when the next attempt is due. All times are by the database's clock. This is a statement of its own, because an
 * UPDATE on Citus cannot add intervals to columns.
 */
const timesStatement = prepared(
  ["began", "pause", "limit", "tenant", "webhook", "id"],
  ({ began, pause, limit, tenant, webhook, id }) =>
    sql.raw(
      `SELECT first::text, first + ? * interval '1 hour' <= now() AS is_over,
         least(now() + ? * interval '1 millisecond',
           greatest(now() + interval '1 second', coalesce(first_attempt_at, now()) + ? * interval '1 hour'))::text AS next
       FROM (SELECT first_attempt_at, coalesce(first_attempt_at, now() - ? * interval '1 millisecond') AS first
         FROM webhook_deliveries WHERE ${TRIED} FOR UPDATE) AS tried`,
      [limit, pause, limit, began, tenant, webhook, id],
    ),
);

const failStatement = prepared(
  ["status", "failure", "first", "next", "tenant", "webhook", "id"],
  ({ status, failure, first, next, tenant, webhook, id }) =>
    sql.raw(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, last_attempt_at = now(), last_status = ?, last_failure = ?,
         first_attempt_at = ?::timestamptz, next_attempt_at = ?::timestamptz WHERE ${TRIED}`,
      [status, failure, first, next, tenant, webhook, id],
    ),
);

const disableStatement = prepared(["reason", "tenant", "id"], ({ reason, tenant, id }) =>
  sql.raw(
    `UPDATE webhooks SET state = 'DISABLED', disabled_reason = ?, version = version + 1, updated_at = now()
     WHERE tenant_id = ? AND id = ? AND state = 'ACTIVE'
     RETURNING version, organization_id AS "organizationId", company_id AS "companyId"`,
    [reason, tenant, id],
  ),
);

/**
 * Returns at most `limit` deliveries that can be sent now. Omits deliveries whose {@link resourceKey} is in `busy`.
 * Also returns the number of all pending deliveries of the webhook.
 */
export async function findDue(
  transaction: Transaction,
  webhook: string,
  busy: readonly string[],
  limit: number,
): Promise<DueDeliveries> {
  const tenant = transaction.tenantId;
  const [heads, { pending }] = await Promise.all([
    readRecords<DeliveryRecord>(transaction, headsStatement({ tenant, webhook, busy, limit })),
    readOnlyRow<{ readonly pending: number }>(transaction, countStatement({ tenant, webhook })),
  ]);
  return { heads, pending };
}

/** Returns the key of the event's resource. Events with the same key are sent one at a time. */
export function resourceKey({ resourceType, resourceId }: Pick<DeliveryRecord, "resourceType" | "resourceId">): string {
  return `${resourceType}/${resourceId}`;
}

/**
 * Returns when the next delivery to a webhook can be sent, by the database's clock. This time can be in the past. Only
 * the oldest pending delivery of each resource can be sent, so the result is the earliest due time of these deliveries.
 * Returns undefined if no delivery of the webhook is pending.
 */
export async function findNextAttempt(transaction: Transaction, webhook: string): Promise<Date | undefined> {
  const statement = nextStatement({ tenant: transaction.tenantId, webhook });
  const [row] = await transaction.rows<{ readonly next: Date | null }>(statement);
  return row?.next ?? undefined;
}

/**
 * Marks a pending delivery as delivered, with the HTTP status of the answer. Without a status, marks it as dropped,
 * that is, not sent.
 */
export function finishDelivery(
  transaction: Transaction,
  { id, webhookId: webhook }: Pick<DeliveryRecord, "id" | "webhookId">,
  status: number | undefined,
): void {
  const outcome = status === undefined ? { state: "DROPPED", attempts: 0 } : { state: "DELIVERED", attempts: 1 };
  transaction.send(succeedStatement({ ...outcome, status: status ?? null, tenant: transaction.tenantId, webhook, id }));
}

/** A failed attempt to send a delivery. */
export interface FailedAttempt {
  readonly status: number | undefined;
  readonly failure: string | undefined;
  /** How long ago the attempt began, in milliseconds. */
  readonly beganMs: number;
  /**
   * Milliseconds until the next attempt. If the time for retries (`limitHours`) ends sooner, the next attempt is made
   * at this end, but not earlier than one second from now.
   */
  readonly pauseMs: number;
  /** The delivery is retried for this many hours after its first attempt. */
  readonly limitHours: number;
}

/**
 * Stores a failed attempt and the time of the next attempt. Returns true if the time for retries (`limitHours`) is
 * over; the caller then disables the webhook. Does nothing and returns false if the delivery is not pending.
 */
export async function failDelivery(
  transaction: Transaction,
  { id, webhookId: webhook }: Pick<DeliveryRecord, "id" | "webhookId">,
  { status, failure, beganMs, pauseMs, limitHours }: FailedAttempt,
): Promise<boolean> {
  const key = { tenant: transaction.tenantId, webhook, id };
  const values = { began: beganMs, pause: pauseMs, limit: limitHours };
  const times = timesStatement({ ...key, ...values });
  const [row] = await transaction.rows<{ first: string; next: string; is_over: boolean }>(times);
  if (row === undefined) return false;
  const { first, next, is_over: isOver } = row;
  transaction.send(failStatement({ ...key, status: status ?? null, failure: failure ?? null, first, next }));
  return isOver;
}

/** Disables an active webhook. Returns its new version, organization and company; undefined if it was not active. */
export async function disableWebhook(
  transaction: Transaction,
  id: string,
  reason: DisabledReason,
): Promise<(Owner & { readonly version: number }) | undefined> {
  const statement = disableStatement({ reason, tenant: transaction.tenantId, id });
  const [row] = await readRecords<Owner & { readonly version: number }>(transaction, statement);
  return row;
}
