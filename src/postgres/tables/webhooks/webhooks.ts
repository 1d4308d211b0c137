import type { Transaction } from "../../../call.js";
import { readOnlyRow } from "../../columns.js";
import { sql } from "../../sql.js";
import type { ResourceTable } from "../resources/resources.js";

/** Attributes of a webhook. */
export interface WebhookAttributes {
  readonly url: string;
  /** The types of the resources whose events are sent, such as APPOINTMENT; empty for all. */
  readonly resourceTypes: readonly string[];
  /** The types of events that are sent; empty for all. An event must match `resourceTypes` too. Test events need neither. */
  readonly eventTypes: readonly string[];
  readonly state: "ACTIVE" | "PAUSED" | "DISABLED";
  readonly disabledReason: DisabledReason | undefined;
  /** The signing secret, encrypted. */
  readonly secret: string;
  /** The former signing secret, encrypted. Until `formerSecretUntil`, deliveries are signed with both secrets. */
  readonly formerSecret: string | undefined;
  readonly formerSecretUntil: Date | undefined;
  /**
   * The cursor of the webhook in the event feed. Events up to this cursor get no new delivery. They have had one if
   * they needed one, unless a replay or the purge of the feed has skipped them. `position` is in decimal digits.
   */
  readonly feedId: string;
  readonly position: string;
}

/** Why the service disabled a webhook. */
export type DisabledReason = "RETRIES_EXHAUSTED" | "GONE";

export const webhooks: ResourceTable<WebhookAttributes> = {
  name: "webhooks",
  type: "Webhook",
  columns: {
    url: "url",
    resourceTypes: "resource_types",
    eventTypes: "event_types",
    state: "state",
    disabledReason: "disabled_reason",
    secret: "secret",
    formerSecret: "former_secret",
    formerSecretUntil: "former_secret_until",
    feedId: "feed_id",
    position: "position",
  },
};

/** Returns the number of webhooks of the tenant, over all organizations and companies. */
export async function countWebhooks(transaction: Transaction): Promise<number> {
  const query = sql("webhooks").where({ tenant_id: transaction.tenantId }).count({ count: "*" });
  return Number((await readOnlyRow<{ readonly count: string }>(transaction, query)).count);
}

/** Deletes a webhook that the transaction has locked, and its pending deliveries. */
export function deleteWebhook(transaction: Transaction, id: string): void {
  const { tenantId } = transaction;
  transaction.send(sql("webhook_deliveries").where({ tenant_id: tenantId, webhook_id: id, state: "PENDING" }).delete());
  transaction.send(sql("webhooks").where({ tenant_id: tenantId, id }).delete());
}
