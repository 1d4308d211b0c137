import { randomUUID } from "node:crypto";
import { runAsActiveTenant, runAsTenant } from "../postgres/run-transaction.js";
import { findNextAttempt } from "../postgres/tables/webhooks/delivery-progress.js";
import { type LeasedWebhook, leaseWebhook, releaseWebhook } from "../postgres/tables/webhooks/webhook-leases.js";
import { DELIVERY_LIMITS } from "./delivery-limits.js";
import type { DeliveryPorts } from "./delivery-ports.js";
import { DeliveryRun } from "./delivery-run.js";

/**
 * The result of {@link deliverWebhook}.
 *
 * - BUSY: the lease of another run has not expired. That run is sending, or ended without giving the lease back, for
 *   example with RESTING.
 * - MORE: sending ended early, so there may be more to send now.
 * - LATER: the next attempt is due at `at`, by the clock of the database.
 * - RESTING: eight attempts failed and the receiver accepted nothing. The lease is kept; nothing is sent until it
 *   expires.
 * - DONE: nothing is left to send, or the webhook or its tenant is not active.
 */
export type DeliveryResult =
  | { readonly kind: "BUSY" | "MORE" | "RESTING" | "DONE" }
  | { readonly kind: "LATER"; readonly at: Date };

/** Hooks of {@link deliverWebhook}, for the job queue. */
export interface DeliveryHooks {
  /** Called with the time at which the lease ends, before anything is sent. */
  readonly onLeased: (leasedUntil: Date) => Promise<void>;
}

/**
 * Sends the events of a webhook for about 10 s, or until nothing is left. Only the run that holds the lease of the
 * webhook sends. A lease expires after 25 s. Nothing is sent for a suspended tenant.
 *
 * If `stop` aborts, sending ends. The events that were being sent are sent again later.
 *
 * If eight attempts fail and the receiver accepts nothing, sending ends. Nothing is sent until the lease expires, so
 * that this webhook takes little time of the workers.
 */
export async function deliverWebhook(
  tenantId: string,
  webhookId: string,
  ports: DeliveryPorts,
  stop: AbortSignal,
  hooks: DeliveryHooks,
): Promise<DeliveryResult> {
  const begun = performance.now();
  const lease = await runAsActiveTenant(ports.database, tenantId, DELIVERY_LIMITS, (transaction) =>
    leaseWebhook(transaction, webhookId, randomUUID()),
  );
  if (lease === undefined || lease === "INACTIVE") return { kind: "DONE" };
  if (lease === "BUSY") return { kind: "BUSY" };
  await hooks.onLeased(lease.leasedUntil);
  const run = new DeliveryRun(tenantId, lease, begun, ports, stop);
  try {
    await run.send();
  } catch (error) {
    await release(tenantId, lease, ports).catch(() => undefined);
    throw error;
  }
  if (run.isRefused && !run.isOver) return { kind: "RESTING" };
  const next = await release(tenantId, lease, ports);
  if (run.isOver) return { kind: "DONE" };
  if (run.isCut) return { kind: "MORE" };
  return next === undefined ? { kind: "DONE" } : { kind: "LATER", at: next };
}

async function release(
  tenantId: string,
  lease: LeasedWebhook,
  { database }: Pick<DeliveryPorts, "database">,
): Promise<Date | undefined> {
  return runAsTenant(database, tenantId, DELIVERY_LIMITS, async (transaction) => {
    releaseWebhook(transaction, lease);
    return findNextAttempt(transaction, lease.id);
  });
}
