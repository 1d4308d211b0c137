import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecords, toPartialRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** The type of the event that a test sends to a webhook. Such an event is not in the feed. */
export const TEST_EVENT = "cupo.webhook.test";

/** The event that a delivery sends to a webhook. */
export interface DeliveredEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly occurredAt: Date;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceVersion: number | undefined;
  readonly correlationId: string;
}

/** A delivery to insert. */
export interface NewDelivery extends DeliveredEvent {
  readonly id: string;
  readonly webhookId: string;
  /** The position of the event in the feed. The events of a resource are sent in the order of their positions. */
  readonly position: number;
}

/** A stored delivery. */
export interface DeliveryRecord extends Omit<NewDelivery, "position"> {
  readonly state: "PENDING" | "DELIVERED" | "DROPPED";
  readonly attempts: number;
  readonly lastAttemptAt: Date | undefined;
  readonly nextAttemptAt: Date;
  readonly lastStatus: number | undefined;
  readonly lastFailure: string | undefined;
  readonly createdAt: Date;
}

const EVENT_COLUMNS = {
  eventId: "event_id",
  eventType: "event_type",
  occurredAt: "occurred_at",
  resourceType: "resource_type",
  resourceId: "resource_id",
  resourceVersion: "resource_version",
  correlationId: "correlation_id",
} satisfies ColumnsOf<DeliveredEvent>;

const NEW_COLUMNS = {
  ...EVENT_COLUMNS,
  id: "id",
  webhookId: "webhook_id",
  position: "position",
} satisfies ColumnsOf<NewDelivery>;

/** The column of each attribute of a delivery. */
export const deliveryColumns = {
  ...EVENT_COLUMNS,
  id: "id",
  webhookId: "webhook_id",
  state: "state",
  attempts: "attempts",
  lastAttemptAt: "last_attempt_at",
  nextAttemptAt: "next_attempt_at",
  lastStatus: "last_status",
  lastFailure: "last_failure",
  createdAt: "created_at",
} satisfies ColumnsOf<DeliveryRecord>;

/** Inserts deliveries with the state PENDING. Their first attempt is due immediately. */
export function insertDeliveries(transaction: Transaction, deliveries: readonly NewDelivery[]): void {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((each) => ({ tenant_id: transaction.tenantId, ...toPartialRow(NEW_COLUMNS, each) }));
  transaction.send(sql("webhook_deliveries").insert(rows));
}

/** Inserts a delivery like {@link insertDeliveries} and returns it as stored. */
export async function insertDelivery(transaction: Transaction, delivery: NewDelivery): Promise<DeliveryRecord> {
  const row = { tenant_id: transaction.tenantId, ...toPartialRow(NEW_COLUMNS, delivery) };
  const names = Object.entries(deliveryColumns).map(([attribute, column]) => `${column} as ${attribute}`);
  const [stored] = await readRecords<DeliveryRecord>(
    transaction,
    sql("webhook_deliveries").insert(row).returning(names),
  );
  if (stored === undefined) throw new Error("the delivery was not inserted");
  return stored;
}

/**
 * Returns at most `limit` deliveries of a webhook, newest first. With `beforeId`, returns only deliveries with smaller
 * ids. With `state`, returns only deliveries in that state.
 */
export async function listDeliveries(
  transaction: Transaction,
  webhookId: string,
  state: string | undefined,
  page: { readonly beforeId: string | undefined; readonly limit: number },
): Promise<DeliveryRecord[]> {
  const query = sql("webhook_deliveries")
    .where({ tenant_id: transaction.tenantId, webhook_id: webhookId, ...(state === undefined ? {} : { state }) })
    .select(deliveryColumns)
    .orderBy("id", "desc")
    .limit(page.limit);
  if (page.beforeId !== undefined) query.where("id", "<", page.beforeId);
  return readRecords(transaction, query);
}

/**
 * Deletes the pending deliveries of events after a position, because the webhook will get new deliveries of these
 * events. Keeps those of tests, because the feed does not have their events.
 */
export function deletePendingAfter(transaction: Transaction, webhookId: string, position: number): void {
  transaction.send(
    sql("webhook_deliveries")
      .where({ tenant_id: transaction.tenantId, webhook_id: webhookId, state: "PENDING" })
      .where("position", ">", position)
      .whereNot({ event_type: TEST_EVENT })
      .delete(),
  );
}

/**
 * Makes every pending delivery of a webhook due now. Resets the number of attempts and the time of the first attempt of
 * each delivery, so that its time for retries begins again.
 */
export function renewPending(transaction: Transaction, webhookId: string): void {
  transaction.send(
    sql("webhook_deliveries")
      .where({ tenant_id: transaction.tenantId, webhook_id: webhookId, state: "PENDING" })
      .update({ attempts: 0, first_attempt_at: null, next_attempt_at: sql.raw("now()") }),
  );
}
