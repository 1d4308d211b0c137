import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Event_ResourceType } from "../../gen/cupo/clinic/v1/event_pb.js";
import {
  type Webhook,
  Webhook_DisabledReason,
  Webhook_State,
  type WebhookDelivery,
  WebhookDelivery_Failure,
  WebhookDelivery_State,
  WebhookDeliverySchema,
  WebhookSchema,
} from "../../gen/cupo/clinic/v1/webhook_pb.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import type { DeliveryRecord } from "../../postgres/tables/webhooks/webhook-deliveries.js";
import type { WebhookAttributes } from "../../postgres/tables/webhooks/webhooks.js";
import { subjectOf } from "../events/event-messages.js";
import { valueNamed } from "../resources/enum-names.js";
import { timesOf } from "../resources/resource-times.js";

/** Converts a webhook record to the Webhook message, which has no secrets. */
export function toWebhook(webhook: ResourceRecord<WebhookAttributes>): Webhook {
  const { id: webhookId, url, eventTypes, version, disabledReason: reason, formerSecretUntil: until } = webhook;
  return create(WebhookSchema, {
    webhookId,
    url,
    resourceTypes: webhook.resourceTypes.map((name) => valueNamed(Event_ResourceType, name)),
    eventTypes: [...eventTypes],
    state: valueNamed(Webhook_State, webhook.state),
    ...(reason === undefined ? {} : { disabledReason: valueNamed(Webhook_DisabledReason, reason) }),
    ...(until === undefined ? {} : { formerSecretUntil: timestampFromDate(until) }),
    version,
    ...timesOf(webhook),
  });
}

/** Converts a delivery record to the WebhookDelivery message. */
export function toDelivery(delivery: DeliveryRecord): WebhookDelivery {
  const { id: deliveryId, eventId, eventType: type, attempts, lastAttemptAt, lastStatus, lastFailure } = delivery;
  return create(WebhookDeliverySchema, {
    deliveryId,
    eventId,
    type,
    subject: subjectOf(delivery),
    state: valueNamed(WebhookDelivery_State, delivery.state),
    attempts,
    createdAt: timestampFromDate(delivery.createdAt),
    ...(lastAttemptAt === undefined ? {} : { lastAttemptAt: timestampFromDate(lastAttemptAt) }),
    ...(delivery.state === "PENDING" ? { nextAttemptAt: timestampFromDate(delivery.nextAttemptAt) } : {}),
    ...(lastStatus === undefined ? {} : { lastStatus }),
    ...(lastFailure === undefined ? {} : { lastFailure: valueNamed(WebhookDelivery_Failure, lastFailure) }),
  });
}
