import type { ReadyCall } from "../../call.js";
import { conflict } from "../../errors.js";
import { WebhookDelivery_State } from "../../gen/cupo/clinic/v1/webhook_pb.js";
import type {
  ListWebhookDeliveriesRequestValid,
  ReplayWebhookRequestValid,
  TestWebhookRequestValid,
  WebhookService,
} from "../../gen/cupo/clinic/v1/webhook_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestDelivery } from "../../postgres/job-queue.js";
import {
  deletePendingAfter,
  insertDelivery,
  listDeliveries,
  TEST_EVENT,
} from "../../postgres/tables/webhooks/webhook-deliveries.js";
import { webhooks } from "../../postgres/tables/webhooks/webhooks.js";
import { readCursor, requireContinuation } from "../events/feed-request.js";
import { readFeedAfter } from "../events/read-placed.js";
import { nameIn } from "../resources/enum-names.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireVersion } from "../resources/preconditions.js";
import { getResource, lockResource, saveResource } from "../resources/resources.js";
import { toDelivery, toWebhook } from "./webhook-messages.js";

type Methods = Implementation<typeof WebhookService>;

/** Returns the operations on the deliveries of webhooks. `now` returns milliseconds since the epoch. */
export function createDeliveryMethods(
  now: () => number,
): Pick<Methods, "testWebhook" | "listWebhookDeliveries" | "replayWebhook"> {
  return {
    async testWebhook(request, call) {
      return sendTest(request, call, now());
    },
    async listWebhookDeliveries(request, call) {
      return listPage(request, call);
    },
    async replayWebhook(request, call) {
      return replay(request, call, now());
    },
  };
}

async function sendTest({ webhookId }: TestWebhookRequestValid, call: ReadyCall, nowMs: number) {
  const webhook = await lockResource(call, webhooks, webhookId);
  if (webhook.state !== "ACTIVE") {
    const message = `the webhook is ${webhook.state}: update its state to ACTIVE first`;
    throw conflict({ code: "STATE_NOT_ALLOWED", field: "webhookId", message });
  }
  const delivery = await insertDelivery(call.transaction, {
    id: call.newId(),
    webhookId,
    position: Number(webhook.position),
    eventId: call.newId(),
    eventType: TEST_EVENT,
    occurredAt: new Date(nowMs),
    resourceType: webhooks.type,
    resourceId: webhook.id,
    resourceVersion: webhook.version,
    correlationId: call.correlationId,
  });
  requestDelivery(call.transaction, webhookId);
  return { delivery: toDelivery(delivery) };
}

async function listPage(request: ListWebhookDeliveriesRequestValid, call: ReadyCall) {
  const { webhookId } = request;
  const state = request.state === undefined ? undefined : nameIn(WebhookDelivery_State, request.state);
  const filters = [webhookId, state];
  const page = readPage(request, "deliveries", filters);
  const [, found] = await Promise.all([
    getResource(call, webhooks, webhookId),
    listDeliveries(call.transaction, webhookId, state, { beforeId: idAfter(page), limit: page.size + 1 }),
  ]);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "deliveries", filters);
  return { deliveries: rows.map(toDelivery), ...next };
}

/**
 * Moves a webhook to the cursor of the request, so that the events after the cursor are sent again. If the webhook is
 * not active, the events are sent when it becomes active. Deletes the pending deliveries after the cursor, because
 * their events get new deliveries. Keeps the deliveries of tests.
 *
 * Throws, in this order:
 * - 422 if `cursor` is malformed
 * - 404 for an unknown webhook
 * - 409 for a stale version
 * - 409 if the feed cannot continue after the cursor ({@link requireContinuation})
 */
async function replay(request: ReplayWebhookRequestValid, call: ReadyCall, nowMs: number) {
  const { feedId, position } = readCursor(request.cursor);
  const current = await lockResource(call, webhooks, request.webhookId);
  requireVersion(current, request.expectedVersion);
  requireContinuation(await readFeedAfter(call.transaction, position), { feedId, position });
  deletePendingAfter(call.transaction, current.id, position);
  const updated = saveResource(call, webhooks, current, { feedId, position: String(position) }, nowMs);
  if (updated.state === "ACTIVE") requestDelivery(call.transaction, current.id);
  return { webhook: toWebhook(updated) };
}
