import type { Logger } from "pino";
import { createFeedReader } from "./events/feed-reader.js";
import type { ResultSeal } from "./interceptors/idempotency.js";
import { scheduleKeyRotation } from "./jobs/rotate-option-keys.js";
import { openKeyRing } from "./option-tokens/key-ring.js";
import type { Database } from "./postgres/database.js";
import { addDeliveryJobs } from "./postgres/job-queue.js";
import { webhookKeys } from "./postgres/tables/appointments/option-token-keys.js";
import { findActiveWebhooks } from "./postgres/tables/webhooks/webhook-overview.js";
import { describe } from "./request-log.js";
import type { WebhookPorts } from "./services/webhooks/webhook-service.js";
import type { Config } from "./settings/config.js";
import type { ServiceMetrics } from "./telemetry/metrics/service-metrics.js";
import type { DeliveryPorts } from "./webhooks/delivery-ports.js";
import { createDnsResolver } from "./webhooks/guarded-lookup.js";
import { createTimeEventJudge } from "./webhooks/judge-time-event.js";
import { createReceiverPolicy, type ReceiverPolicy } from "./webhooks/receiver-policy.js";
import { openSender } from "./webhooks/send-event.js";
import { createVault, newWebhookSecret, type Vault, withGivenKeys } from "./webhooks/webhook-secrets.js";
import { createWebhookWakes } from "./webhooks/webhook-wakes.js";

/** The webhook components that the RPC services and the calls of a process use. */
export interface Webhooks {
  readonly service: WebhookPorts;
  readonly resultSeal: ResultSeal;
  readonly vault: Vault;
  readonly policy: ReceiverPolicy;
  /**
   * Queues a job for each active webhook of a tenant, usually about 100 ms after this call. The job sends events to the
   * webhook. Call this after a transaction of the tenant has committed.
   */
  committed(tenantId: string): void;
  close(): Promise<void>;
}

/** The dependencies of {@link openWebhooks} and {@link openDeliveries}. */
export interface WebhooksOptions {
  readonly database: Database;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The time limit for the answer of a receiver, in milliseconds; default 10,000. */
  readonly sendTimeoutMs?: number | undefined;
}

/**
 * Without keys in the settings, the service encrypts the stored secrets of webhooks, and stored results with such a
 * secret, with keys that it creates. Every 30 days, it creates a new key for new secrets. Old keys stay for ever,
 * because a secret lives as long as its webhook.
 */
const KEY_LIFE = { rotationMs: 30 * 24 * 60 * 60 * 1_000, retentionMs: Number.POSITIVE_INFINITY };

/**
 * Opens the webhook components that RPC services and calls use. {@link openDeliveries} opens the components of jobs.
 */
export async function openWebhooks(
  { webhooks: settings }: Pick<Config, "webhooks">,
  { database, now, logger }: WebhooksOptions,
): Promise<Webhooks> {
  const warn = (text: string) => (error: unknown) => logger.warn({ cause: describe(error) }, text);
  const keyRing = await openKeyRing({ store: webhookKeys(database), now, ...KEY_LIFE });
  const stopRotation = scheduleKeyRotation(keyRing, warn("rotating webhook keys failed; retrying in 30 min"));
  const vault = createVault(withGivenKeys(settings.keys, keyRing));
  const policy = createReceiverPolicy(settings);
  const wakes = createWebhookWakes({
    findActive: (tenantIds) => findActiveWebhooks(database, tenantIds),
    addJobs: (webhooks) => addDeliveryJobs(database.pool, webhooks),
    onError: warn("queueing webhook deliveries failed; events arrive up to a minute late until it succeeds"),
  });
  return {
    service: { refusalOf: policy.refusalOf, newSecret: newWebhookSecret, seal: vault.seal },
    resultSeal: {
      seal: (result) => Buffer.from(vault.seal(result)),
      open: (sealed) => vault.open(Buffer.from(sealed).toString()),
    },
    vault,
    policy,
    committed: wakes.committed.bind(wakes),
    async close() {
      stopRotation();
      await wakes.close();
    },
  };
}

/** Opens the webhook components that jobs use to send events. Close the `sender` after the jobs have stopped. */
export function openDeliveries(
  { vault, policy }: Pick<Webhooks, "vault" | "policy">,
  { database, now, logger, sendTimeoutMs }: WebhooksOptions,
  metrics: Pick<ServiceMetrics, "sentToWebhook" | "disabledWebhook">,
  onCommitted: (tenantId: string) => void,
): DeliveryPorts {
  return {
    database,
    reader: createFeedReader(database),
    vault,
    sender: openSender({ policy, resolve: createDnsResolver(), timeoutMs: sendTimeoutMs }),
    judge: createTimeEventJudge(database, now),
    now,
    logger,
    onAttempt: metrics.sentToWebhook,
    onDisabled: metrics.disabledWebhook,
    onCommitted,
  };
}
