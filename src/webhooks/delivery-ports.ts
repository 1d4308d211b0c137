import type { Logger } from "pino";
import type { FeedReader } from "../events/feed-reader.js";
import type { TransactionSource } from "../postgres/run-transaction.js";
import type { DeliveryRecord } from "../postgres/tables/webhooks/webhook-deliveries.js";
import type { DisabledReason } from "../postgres/tables/webhooks/webhooks.js";
import type { Sender } from "./send-event.js";
import type { Vault } from "./webhook-secrets.js";

/** The outcomes of an attempt to deliver an event, for metrics. `dropped`: the event was outdated and not sent. */
export const DELIVERY_OUTCOMES = ["delivered", "failed", "dropped"] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/**
 * Decides just before an event is sent whether it still applies. Returns DROP for an event that no longer applies, such
 * as the reminder of an appointment that was moved. Called for each attempt.
 */
export type JudgeDelivery = (delivery: DeliveryRecord, tenantId: string) => Promise<"SEND" | "DROP">;

/** The dependencies of sending events to webhooks. */
export interface DeliveryPorts {
  readonly database: TransactionSource;
  readonly reader: FeedReader;
  readonly vault: Vault;
  readonly sender: Sender;
  readonly judge: JudgeDelivery;
  /**
   * Returns milliseconds since the epoch, for the header webhook-timestamp. Receivers compare this header with their
   * clock.
   */
  readonly now: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly onAttempt?: ((outcome: DeliveryOutcome) => void) | undefined;
  readonly onDisabled?: ((reason: DisabledReason) => void) | undefined;
  /** Called after a commit that added an event to the feed of the tenant. */
  readonly onCommitted?: ((tenantId: string) => void) | undefined;
}
