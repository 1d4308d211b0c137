import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { eventually } from "../support/eventually.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { RECEIVERS_ALLOWED, type Receiver, startReceiver, verify } from "./receiver.js";
import {
  changeLocation,
  createLocation,
  createWebhook,
  readDeliveries,
  readWebhook,
  rpc,
  successOf,
  textIn,
} from "./webhooks-under-test.js";

let service: TestService;
/** A principal of a tenant of its own. */
let as: TokenFor;

beforeAll(async () => {
  service = await startTestService(RECEIVERS_ALLOWED, { runsJobs: true });
});

afterAll(() => service.close());

beforeEach(() => {
  as = { tenantId: randomUUID() };
});

describe("an event", () => {
  test("arrives as JSON of the feed, with the headers and a valid signature of Standard Webhooks", async () => {
    const receiver = await openReceiver();
    const { secret } = await createWebhook(service, { url: receiver.url }, as);
    const locationId = await createLocation(service, as);
    await eventually(() => receiver.accepted.length === 2);
    const [created, event] = receiver.accepted;
    expect(created?.type).toBe("cupo.webhook.created");
    if (event === undefined) throw new Error("no event");
    const { events } = successOf(await callRpc(service, EventService.method.listEvents, {}, { as }));
    const sent = verify(event, secret, service.now());
    expect(sent).toMatchObject({ type: "cupo.location.created", resourceId: locationId, resourceVersion: 1 });
    expect((events as object[])[1]).toMatchObject(sent as object);
    expect(event.headers).toMatchObject({ "webhook-id": event.eventId, "content-type": "application/json" });
    expect(() => verify(event, `whsec_${Buffer.alloc(32).toString("base64")}`, service.now())).toThrow(
      "No matching signature found",
    );
  });

  test("is sent if it matches the resource types and the event types, and to the owner of its resource only", async () => {
    const receiver = await openReceiver();
    const eventTypes = ["cupo.location.updated"];
    await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION", "NOTE"], eventTypes }, as);
    const own = { ...as, organizationId: randomUUID() };
    const [seen, hidden] = [await createLocation(service, as), await createLocation(service, own)];
    await changeLocation(service, hidden, 1, own);
    await changeLocation(service, seen, 1, as);
    await changeLocation(service, seen, 2, as);
    await eventually(() => receiver.accepted.length === 2);
    expect(receiver.arrived.map(({ type, resourceId }) => [type, resourceId])).toEqual([
      ["cupo.location.updated", seen],
      ["cupo.location.updated", seen],
    ]);
  });

  test("is sent again after a failure, with the same id, and later events of its resource wait for it", async () => {
    const receiver = await openReceiver();
    let refusals = 0;
    receiver.behave(({ resourceVersion }) => (resourceVersion === 1 && refusals++ < 1 ? 500 : 204));
    await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
    const id = await createLocation(service, as);
    for (const version of [1, 2]) await changeLocation(service, id, version, as);
    const other = await createLocation(service, as);
    await eventually(() => receiver.accepted.length === 4);
    const versions = receiver.accepted
      .filter(({ resourceId }) => resourceId === id)
      .map((event) => event.resourceVersion);
    expect(versions).toEqual([1, 2, 3]);
    const ids = receiver.arrived.filter((event) => event.resourceVersion === 1 && event.resourceId === id);
    expect(new Set(ids.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(receiver.accepted[0]?.resourceId).not.toBe(id);
    expect(receiver.accepted.map(({ resourceId }) => resourceId)).toContain(other);
  });
});

describe("a failure", () => {
  test.each([
    ["an error", 500],
    ["a redirect", 302],
    ["an unknown resource", 404],
  ])("is %s: the delivery stays pending with its status", async (_, status) => {
    const receiver = await openReceiver();
    receiver.behave(() => status);
    const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
    await createLocation(service, as);
    await eventually(async () => (await readDeliveries(service, webhookId, as))[0]?.["lastStatus"] !== undefined);
    const [delivery] = await readDeliveries(service, webhookId, as);
    expect(delivery).toMatchObject({ state: "PENDING", lastStatus: status });
  });

  test("is a refused connection, reported without a status", async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
    await createLocation(service, as);
    await eventually(async () => (await readDeliveries(service, webhookId, as))[0]?.["lastFailure"] !== undefined);
    const [delivery] = await readDeliveries(service, webhookId, as);
    expect(delivery).toMatchObject({ state: "PENDING", lastFailure: "CONNECTION_FAILED" });
    expect(delivery).not.toHaveProperty("lastStatus");
  });
});

describe("the service disables a webhook", () => {
  test("at once if the receiver answers 410, with an event in the feed", async () => {
    const receiver = await openReceiver();
    receiver.behave(() => 410);
    as = { ...as, organizationId: randomUUID(), companyId: randomUUID() };
    const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
    const { createdAt } = await readWebhook(service, webhookId, as);
    await createLocation(service, as);
    await eventually(async () => (await readWebhook(service, webhookId, as))["state"] === "DISABLED");
    const disabled = await readWebhook(service, webhookId, as);
    expect(disabled).toMatchObject({ disabledReason: "GONE", version: 2, createdAt });
    expect(disabled["updatedAt"]).not.toBe(createdAt);
    const { events } = successOf(await callRpc(service, EventService.method.listEvents, {}, { as }));
    expect((events as object[]).at(-1)).toMatchObject({
      type: "cupo.webhook.updated",
      resourceId: webhookId,
      resourceVersion: 2,
    });
    const others = { ...as, organizationId: randomUUID() };
    const unseen = successOf(await callRpc(service, EventService.method.listEvents, {}, { as: others }));
    expect(unseen["events"]).toEqual([]);
  });

  test("after 72 hours; made active again, it continues with the same event", async () => {
    const receiver = await openReceiver();
    receiver.behave(() => 503);
    const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
    const id = await createLocation(service, as);
    await eventually(async () => Number((await readDeliveries(service, webhookId, as))[0]?.["attempts"]) > 0);
    await service.query(
      `UPDATE webhook_deliveries SET first_attempt_at = now() - interval '72 hours', next_attempt_at = now() WHERE webhook_id = '${webhookId}'`,
    );
    await service.query("SELECT graphile_worker.add_job('find_webhooks')");
    await eventually(async () => (await readWebhook(service, webhookId, as))["state"] === "DISABLED");
    expect(await readWebhook(service, webhookId, as)).toMatchObject({ disabledReason: "RETRIES_EXHAUSTED" });
    receiver.behave(() => 204);
    const active = { webhookId, state: "ACTIVE", expectedVersion: 2 };
    const { webhook } = successOf(await callRpc(service, rpc.updateWebhook, active, { as }));
    expect(webhook).toMatchObject({ state: "ACTIVE", version: 3 });
    expect(webhook).not.toHaveProperty("disabledReason");
    await eventually(() => receiver.accepted.length === 1);
    expect(receiver.accepted[0]?.resourceId).toBe(id);
  });
});

test("a paused webhook gets the events of the meantime when it is active again", async () => {
  const receiver = await openReceiver();
  const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
  const pause = { webhookId, state: "PAUSED", expectedVersion: 1 };
  successOf(await callRpc(service, rpc.updateWebhook, pause, { as }));
  const ids = [await createLocation(service, as), await createLocation(service, as)];
  expect(await readDeliveries(service, webhookId, as)).toEqual([]);
  const resume = { webhookId, state: "ACTIVE", expectedVersion: 2 };
  successOf(await callRpc(service, rpc.updateWebhook, resume, { as }));
  await eventually(() => receiver.accepted.length === 2);
  expect(receiver.accepted.map(({ resourceId }) => resourceId).toSorted()).toEqual(ids.toSorted());
});

test("a test event arrives whatever the filters, and is not in the feed", async () => {
  const receiver = await openReceiver();
  const { webhookId, secret } = await createWebhook(service, { url: receiver.url, resourceTypes: ["NOTE"] }, as);
  const { delivery } = successOf(await callRpc(service, rpc.testWebhook, { webhookId }, { as }));
  await eventually(() => receiver.accepted.length === 1);
  const [event] = receiver.accepted;
  expect(event).toMatchObject({ type: "cupo.webhook.test", resourceId: webhookId, resourceVersion: 1 });
  expect(event && verify(event, secret, service.now())).toMatchObject({
    eventId: (delivery as Record<string, unknown>)["eventId"],
  });
  await eventually(async () => (await readDeliveries(service, webhookId, as))[0]?.["state"] === "DELIVERED");
  const { events } = successOf(await callRpc(service, EventService.method.listEvents, {}, { as }));
  expect((events as object[]).length).toBe(1);
});

test("a replay sends the events after a cursor again, with the same ids", async () => {
  const receiver = await openReceiver();
  const { webhookId } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
  const first = successOf(await callRpc(service, EventService.method.listEvents, { pageSize: 1 }, { as }));
  const ids = [await createLocation(service, as), await createLocation(service, as)];
  await eventually(() => receiver.accepted.length === 2);
  const request = { webhookId, cursor: textIn(first, "nextCursor"), expectedVersion: 1 };
  successOf(await callRpc(service, rpc.replayWebhook, request, { as }));
  await eventually(() => receiver.accepted.length === 4);
  expect(new Set(receiver.accepted.map(({ eventId }) => eventId)).size).toBe(2);
  expect(new Set(receiver.accepted.map(({ resourceId }) => resourceId))).toEqual(new Set(ids));
});

test("after a rotation both secrets verify an event; a day later only the new one does", async () => {
  const receiver = await openReceiver();
  const { webhookId, secret } = await createWebhook(service, { url: receiver.url, resourceTypes: ["LOCATION"] }, as);
  const rotated = await betweenRuns(webhookId, async (expectedVersion) =>
    successOf(await callRpc(service, rpc.rotateWebhookSecret, { webhookId, expectedVersion }, { as })),
  );
  const next = textIn(rotated, "secret");
  await createLocation(service, as);
  await eventually(() => receiver.accepted.length === 1);
  const [event] = receiver.accepted;
  if (event === undefined) throw new Error("no event");
  for (const known of [secret, next]) expect(() => verify(event, known, service.now())).not.toThrow();
  await betweenRuns(webhookId, () =>
    service.query(`UPDATE webhooks SET former_secret_until = now() - interval '100 years' WHERE id = '${webhookId}'`),
  );
  await createLocation(service, as);
  await eventually(() => receiver.accepted.length === 2);
  const later = receiver.accepted[1];
  if (later === undefined) throw new Error("no event");
  expect(() => verify(later, next, service.now())).not.toThrow();
  expect(() => verify(later, secret, service.now())).toThrow("No matching signature found");
});

/**
 * Makes a change while the webhook is paused and no run has its lease, because a run signs with the secrets that it read
 * at its start. The change gets the version of the webhook. Then makes the webhook active again.
 */
async function betweenRuns<T>(webhookId: string, change: (version: number) => Promise<T>): Promise<T> {
  await setState(webhookId, "PAUSED");
  const leased = `SELECT FROM webhooks WHERE id = '${webhookId}' AND lease_id IS NOT NULL`;
  await eventually(async () => (await service.query(leased)).length === 0);
  const result = await change(await versionOf(webhookId));
  await setState(webhookId, "ACTIVE");
  return result;
}

async function setState(webhookId: string, state: string): Promise<void> {
  const request = { webhookId, state, expectedVersion: await versionOf(webhookId) };
  successOf(await callRpc(service, rpc.updateWebhook, request, { as }));
}

async function versionOf(webhookId: string): Promise<number> {
  return Number((await readWebhook(service, webhookId, as))["version"]);
}

async function openReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}
