import type { Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/**
 * The duration of the lease of a webhook, in milliseconds. Only the run of `deliverWebhook` that holds the lease may
 * send to the webhook. When the lease has ended, another run may take it, in the same or another process.
 */
export const LEASE_MS = 25_000;

/** A webhook whose lease this run holds. The run may send to the webhook until the lease ends. */
export interface LeasedWebhook {
  readonly id: string;
  readonly leaseId: string;
  readonly version: number;
  readonly url: string;
  readonly resourceTypes: readonly string[];
  readonly eventTypes: readonly string[];
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
  /** The signing secret, encrypted. */
  readonly secret: string;
  /**
   * The former signing secret, encrypted. Until `formerSecretUntil`, deliveries are signed with both secrets. The
   * service compares this time with its own clock.
   */
  readonly formerSecret: string | undefined;
  readonly formerSecretUntil: Date | undefined;
  readonly feedId: string;
  /** The position in the feed up to which events get no new delivery, in decimal digits. */
  readonly position: string;
  /** When the lease ends, by the database's clock. */
  readonly leasedUntil: Date;
}

/** BUSY: the webhook has a lease that has not expired. INACTIVE: the webhook is not active or does not exist. */
export type NoLease = "BUSY" | "INACTIVE";

/** The lease begins with the transaction (`now()`), because Citus rejects clock_timestamp in an UPDATE. */
const takeLease = prepared(["lease", "tenant", "id"], ({ lease, tenant, id }) =>
  sql.raw(
    `UPDATE webhooks SET lease_id = ?, leased_until = now() + interval '${LEASE_MS} milliseconds'
     WHERE tenant_id = ? AND id = ? AND state = 'ACTIVE' AND (leased_until IS NULL OR leased_until < now())
     RETURNING id, lease_id AS "leaseId", version, url, resource_types AS "resourceTypes", event_types AS "eventTypes",
       organization_id AS "organizationId", company_id AS "companyId", secret,
       former_secret AS "formerSecret", former_secret_until AS "formerSecretUntil", feed_id AS "feedId", position,
       leased_until AS "leasedUntil"`,
    [lease, tenant, id],
  ),
);

const isActive = prepared(["tenant", "id"], ({ tenant, id }) =>
  sql.raw("SELECT 1 FROM webhooks WHERE tenant_id = ? AND id = ? AND state = 'ACTIVE'", [tenant, id]),
);

const endLease = prepared(["tenant", "id", "lease"], ({ tenant, id, lease }) =>
  sql.raw(
    "UPDATE webhooks SET lease_id = NULL, leased_until = NULL WHERE tenant_id = ? AND id = ? AND lease_id = ? RETURNING id",
    [tenant, id, lease],
  ),
);

const AS_LEASED = `tenant_id = ? AND id = ? AND lease_id = ? AND version = ? AND state = 'ACTIVE'
  AND NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = ? AND t.state <> 'ACTIVE')`;

const asLeasedStatement = prepared(["tenant", "id", "lease", "version"], ({ tenant, id, lease, version }) =>
  sql.raw(`SELECT 1 FROM webhooks WHERE ${AS_LEASED}`, [tenant, id, lease, version, tenant]),
);

const advanceStatement = prepared(
  ["feed", "position", "tenant", "id", "lease", "version", "fromFeed", "from"],
  ({ feed, position, tenant, id, lease, version, fromFeed, from }) =>
    sql.raw(
      `UPDATE webhooks SET feed_id = ?, position = ? WHERE ${AS_LEASED} AND feed_id = ? AND position = ? RETURNING id`,
      [feed, position, tenant, id, lease, version, tenant, fromFeed, from],
    ),
);

/**
 * Takes the lease of an active webhook and returns the webhook. Returns BUSY if another run has the lease, and INACTIVE
 * if the webhook is not active or does not exist.
 */
export async function leaseWebhook(
  transaction: Transaction,
  id: string,
  leaseId: string,
): Promise<LeasedWebhook | NoLease> {
  const key = { tenant: transaction.tenantId, id };
  const leased = await readRecord<LeasedWebhook>(transaction, takeLease({ ...key, lease: leaseId }));
  if (leased !== undefined) return leased;
  const [active] = await transaction.rows(isActive(key));
  return active === undefined ? "INACTIVE" : "BUSY";
}

/** Ends the lease `leaseId` of a webhook. Does nothing if another run has taken the lease in the meantime. */
export function releaseWebhook(transaction: Transaction, { id, leaseId }: LeasedWebhook): void {
  transaction.send(endLease({ tenant: transaction.tenantId, id, lease: leaseId }));
}

/**
 * Returns true if this run still has the lease of a webhook, the webhook and its tenant are active, and the version of
 * the webhook is the same. A change, for example of its URL, filters or secret, increases the version.
 */
export async function isAsLeased(
  transaction: Transaction,
  { id, leaseId: lease, version }: LeasedWebhook,
): Promise<boolean> {
  return (await transaction.rows(asLeasedStatement({ tenant: transaction.tenantId, id, lease, version }))).length > 0;
}

/** A position in an event feed. `position` is in decimal digits. */
export interface StoredCursor {
  readonly feedId: string;
  readonly position: string;
}

/**
 * Moves the cursor of a leased webhook and returns true. Returns false and changes nothing if the webhook's lease is no
 * longer `leaseId`, its cursor is no longer `from`, the webhook was changed, or the webhook or its tenant is not
 * active.
 */
export async function advanceWebhook(
  transaction: Transaction,
  { id, leaseId, version }: LeasedWebhook,
  from: StoredCursor,
  to: StoredCursor,
): Promise<boolean> {
  const key = { tenant: transaction.tenantId, id, lease: leaseId, version };
  const cursors = { fromFeed: from.feedId, from: from.position, feed: to.feedId, position: to.position };
  return (await transaction.rows(advanceStatement({ ...key, ...cursors }))).length > 0;
}
