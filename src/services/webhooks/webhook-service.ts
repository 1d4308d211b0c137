import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import { Event_ResourceType } from "../../gen/cupo/clinic/v1/event_pb.js";
import { Webhook_State } from "../../gen/cupo/clinic/v1/webhook_pb.js";
import type {
  CreateWebhookRequestValid,
  RotateWebhookSecretRequestValid,
  UpdateWebhookRequestValid,
  WebhookService,
} from "../../gen/cupo/clinic/v1/webhook_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestDelivery } from "../../postgres/job-queue.js";
import { renewPending } from "../../postgres/tables/webhooks/webhook-deliveries.js";
import { countWebhooks, deleteWebhook, webhooks } from "../../postgres/tables/webhooks/webhooks.js";
import { readEndOfFeed } from "../events/read-placed.js";
import { nameIn } from "../resources/enum-names.js";
import { requireVersion } from "../resources/preconditions.js";
import {
  changesOf,
  createResource,
  getResource,
  listResources,
  lockResource,
  ownerOf,
  saveResource,
} from "../resources/resources.js";
import { createDeliveryMethods } from "./delivery-methods.js";
import { toWebhook } from "./webhook-messages.js";

/** The dependencies of the webhook service. */
export interface WebhookPorts {
  /** Returns undefined if events may be sent to a URL. Otherwise returns the end of the message "the URL must …". */
  readonly refusalOf: (url: string) => string | undefined;
  readonly newSecret: () => string;
  /** Encrypts bytes for storage. */
  readonly seal: (bytes: Uint8Array) => string;
}

/** The highest number of webhooks of a tenant. The limit exists because background jobs spend time on each webhook. */
export const MAX_WEBHOOKS = 20;

/** After a rotation, events are signed with the previous secret too, for this many milliseconds. */
const FORMER_SECRET_MS = 24 * 60 * 60 * 1_000;

/** Returns the service for the webhooks of a tenant. `now` returns milliseconds since the epoch. */
export function createWebhookService(now: () => number, ports: WebhookPorts): Implementation<typeof WebhookService> {
  return {
    async createWebhook(request, call) {
      return create(request, call, now(), ports);
    },
    async getWebhook({ webhookId }, call) {
      return { webhook: toWebhook(await getResource(call, webhooks, webhookId)) };
    },
    async listWebhooks(request, call) {
      const { rows, next } = await listResources(call, webhooks, request, {});
      return { webhooks: rows.map(toWebhook), ...next };
    },
    async updateWebhook(request, call) {
      return update(request, call, now(), ports);
    },
    async deleteWebhook({ webhookId, expectedVersion }, call) {
      const webhook = await lockResource(call, webhooks, webhookId);
      requireVersion(webhook, expectedVersion);
      deleteWebhook(call.transaction, webhookId);
      const version = webhook.version + 1;
      const ownedBy = ownerOf(webhook);
      call.effects.push({ resourceType: "Webhook", resourceId: webhook.id, action: "DELETE", version, ownedBy });
      return { webhook: toWebhook(webhook) };
    },
    async rotateWebhookSecret(request, call) {
      return rotateSecret(request, call, now(), ports);
    },
    ...createDeliveryMethods(now),
  };
}

/**
 * Creates a webhook for the events after the current end of the tenant's event feed. Returns the webhook and its
 * secret. Throws 422 for a URL that is not allowed, and if the tenant already has {@link MAX_WEBHOOKS}.
 *
 * Reading the end of the feed locks the feed. So the creations of one tenant run one after the other, and the count of
 * webhooks is exact.
 */
async function create(
  { url, resourceTypes, eventTypes }: CreateWebhookRequestValid,
  call: ReadyCall,
  nowMs: number,
  { refusalOf, newSecret, seal }: WebhookPorts,
) {
  requireReceiver(url, refusalOf);
  const [end, count] = await Promise.all([readEndOfFeed(call.transaction), countWebhooks(call.transaction)]);
  if (count >= MAX_WEBHOOKS) {
    const message = `a tenant can have ${MAX_WEBHOOKS} webhooks: delete one first`;
    throw validationFailed([{ code: "TOO_MANY", field: "url", message }]);
  }
  const secret = newSecret();
  const attributes = {
    url,
    resourceTypes: resourceTypes.map((type) => nameIn(Event_ResourceType, type)),
    eventTypes,
    state: "ACTIVE",
    disabledReason: undefined,
    secret: seal(Buffer.from(secret)),
    formerSecret: undefined,
    formerSecretUntil: undefined,
    feedId: end.feedId,
    position: String(end.lastPosition),
  } as const;
  return { webhook: toWebhook(createResource(call, webhooks, attributes, nowMs)), secret };
}

async function update(request: UpdateWebhookRequestValid, call: ReadyCall, nowMs: number, { refusalOf }: WebhookPorts) {
  const { url, resourceTypes, eventTypes, state } = changesOf(request, "webhookId");
  if (url !== undefined) requireReceiver(url, refusalOf);
  const current = await lockResource(call, webhooks, request.webhookId);
  requireVersion(current, request.expectedVersion);
  const next = state === undefined ? undefined : nameIn(Webhook_State, state);
  const updated = saveResource(
    call,
    webhooks,
    current,
    {
      ...(url === undefined ? {} : { url }),
      ...(resourceTypes === undefined
        ? {}
        : { resourceTypes: resourceTypes.map((type) => nameIn(Event_ResourceType, type)) }),
      ...(eventTypes === undefined ? {} : { eventTypes }),
      ...(next === undefined ? {} : { state: next, disabledReason: undefined }),
    },
    nowMs,
  );
  if (updated.state === "ACTIVE" && current.state !== "ACTIVE") {
    renewPending(call.transaction, current.id);
    requestDelivery(call.transaction, current.id);
  }
  return { webhook: toWebhook(updated) };
}

async function rotateSecret(
  { webhookId, expectedVersion }: RotateWebhookSecretRequestValid,
  call: ReadyCall,
  nowMs: number,
  { newSecret, seal }: WebhookPorts,
) {
  const current = await lockResource(call, webhooks, webhookId);
  requireVersion(current, expectedVersion);
  const secret = newSecret();
  const changes = {
    secret: seal(Buffer.from(secret)),
    formerSecret: current.secret,
    formerSecretUntil: new Date(nowMs + FORMER_SECRET_MS),
  };
  return { webhook: toWebhook(saveResource(call, webhooks, current, changes, nowMs)), secret };
}

function requireReceiver(url: string, refusalOf: WebhookPorts["refusalOf"]): void {
  const refusal = refusalOf(url);
  if (refusal === undefined) return;
  throw validationFailed([{ code: "INVALID_VALUE", field: "url", message: `the URL must ${refusal}` }]);
}
