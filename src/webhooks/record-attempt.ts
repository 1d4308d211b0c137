import type { Transaction } from "../call.js";
import { appendServiceAudit } from "../postgres/audit.js";
import { runAsTenant } from "../postgres/run-transaction.js";
import { disableWebhook, failDelivery, finishDelivery } from "../postgres/tables/webhooks/delivery-progress.js";
import type { DeliveryRecord } from "../postgres/tables/webhooks/webhook-deliveries.js";
import type { DisabledReason } from "../postgres/tables/webhooks/webhooks.js";
import { DELIVERY_LIMITS } from "./delivery-limits.js";
import type { DeliveryPorts } from "./delivery-ports.js";
import { pauseMs, RETRY_HOURS } from "./retry-schedule.js";
import type { Attempt } from "./send-event.js";

const GONE = 410;
/** The name of the operation in the audit trail when the service disables a webhook. */
const DISABLING = "disable_webhook";

/** Stores that the event of a delivery is not sent, because it no longer applies. */
export async function recordDrop(
  tenantId: string,
  delivery: DeliveryRecord,
  { database, onAttempt }: Pick<DeliveryPorts, "database" | "onAttempt">,
): Promise<void> {
  await runAsTenant(database, tenantId, DELIVERY_LIMITS, async (transaction) =>
    finishDelivery(transaction, delivery, undefined),
  );
  onAttempt?.("dropped");
}

/** The stored result of an attempt. DISABLED: the event was not accepted, and this disabled the webhook. */
export type Recorded = "ACCEPTED" | "FAILED" | "DISABLED";

/**
 * Stores the result of an attempt. A status from 200 to 299 accepts the event. Disables the webhook if the receiver
 * answered 410 Gone, or if it did not accept the event for 72 h.
 */
export async function recordAttempt(
  tenantId: string,
  delivery: DeliveryRecord,
  attempt: Attempt,
  tookMs: number,
  ports: DeliveryPorts,
): Promise<Recorded> {
  const status = "status" in attempt ? attempt.status : undefined;
  const isAccepted = status !== undefined && status >= 200 && status < 300;
  const disabled = await runAsTenant(ports.database, tenantId, DELIVERY_LIMITS, async (transaction) => {
    if (!isAccepted) return fail(transaction, delivery, attempt, tookMs);
    finishDelivery(transaction, delivery, status);
    return undefined;
  });
  ports.onAttempt?.(isAccepted ? "delivered" : "failed");
  if (disabled === undefined) return isAccepted ? "ACCEPTED" : "FAILED";
  ports.onDisabled?.(disabled);
  ports.onCommitted?.(tenantId);
  ports.logger.warn({ tenant: tenantId, webhook: delivery.webhookId, reason: disabled }, "a webhook was disabled");
  return "DISABLED";
}

/** Stores a failed attempt and disables the webhook if necessary. Returns why it was disabled, or undefined. */
async function fail(
  transaction: Transaction,
  delivery: DeliveryRecord,
  attempt: Attempt,
  tookMs: number,
): Promise<DisabledReason | undefined> {
  const status = "status" in attempt ? attempt.status : undefined;
  const isOver = await failDelivery(transaction, delivery, {
    status,
    failure: "failure" in attempt ? attempt.failure : undefined,
    beganMs: tookMs,
    pauseMs: pauseMs(delivery.attempts + 1, Math.random()),
    limitHours: RETRY_HOURS,
  });
  const reason = status === GONE ? "GONE" : isOver ? "RETRIES_EXHAUSTED" : undefined;
  return reason === undefined ? undefined : disable(transaction, delivery.webhookId, reason);
}

async function disable(
  transaction: Transaction,
  webhookId: string,
  reason: DisabledReason,
): Promise<DisabledReason | undefined> {
  const disabled = await disableWebhook(transaction, webhookId, reason);
  if (disabled === undefined) return undefined;
  const { version, ...ownedBy } = disabled;
  const effect = { resourceType: "Webhook", resourceId: webhookId, action: "UPDATE", version, ownedBy } as const;
  transaction.send(appendServiceAudit(effect, transaction.tenantId, DISABLING));
  return reason;
}
