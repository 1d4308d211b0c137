import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { WebhookService } from "../../src/gen/cupo/clinic/v1/webhook_service_pb.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** A webhook in its JSON form, with its secret. */
export interface MadeWebhook {
  readonly webhookId: string;
  readonly version: number;
  readonly secret: string;
}

export const rpc = WebhookService.method;

/** Creates a webhook. Throws unless the answer is a success. */
export async function createWebhook(service: TestService, request: JsonObject, as: TokenFor): Promise<MadeWebhook> {
  const { webhook, secret } = successOf(await callRpc(service, rpc.createWebhook, request, { as }));
  const made = webhook as JsonObject;
  return {
    webhookId: textIn(made, "webhookId"),
    version: Number(made["version"]),
    secret: textIn({ secret }, "secret"),
  };
}

/** Returns the webhook as a read shows it. */
export async function readWebhook(service: TestService, webhookId: string, as: TokenFor): Promise<JsonObject> {
  const { webhook } = successOf(await callRpc(service, rpc.getWebhook, { webhookId }, { as }));
  return webhook as JsonObject;
}

/** Returns the deliveries of a webhook, newest first. */
export async function readDeliveries(service: TestService, webhookId: string, as: TokenFor): Promise<JsonObject[]> {
  const { deliveries } = successOf(await callRpc(service, rpc.listWebhookDeliveries, { webhookId }, { as }));
  return deliveries as JsonObject[];
}

/** Creates a location, which makes one event, and returns its id. */
export async function createLocation(service: TestService, as: TokenFor): Promise<string> {
  const request = { code: `L-${randomUUID()}`, name: "Sede Suba", active: true };
  const { location } = successOf(await callRpc(service, ReferenceDataService.method.createLocation, request, { as }));
  return textIn(location as JsonObject, "locationId");
}

/** Changes a location, which makes one event. */
export async function changeLocation(
  service: TestService,
  locationId: string,
  expectedVersion: number,
  as: TokenFor,
): Promise<void> {
  const request = { locationId, expectedVersion, name: `Sede ${expectedVersion}` };
  successOf(await callRpc(service, ReferenceDataService.method.updateLocation, request, { as }));
}

/** Returns a text in a message. Throws if it is no text. */
export function textIn(message: { readonly [name: string]: unknown }, name: string): string {
  const value = message[name];
  if (typeof value !== "string") throw new Error(`no text ${name}`);
  return value;
}

/** Returns the body of a success. Throws otherwise. */
export function successOf({ status, body, text }: RestAnswer): JsonObject {
  if (status !== 200) throw new Error(`not a success: ${status} ${text}`);
  return body as JsonObject;
}
