import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createFeedReader } from "../../src/events/feed-reader.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { Database } from "../../src/postgres/database.js";
import { deliverWebhook } from "../../src/webhooks/deliver-webhook.js";
import type { DeliveryPorts } from "../../src/webhooks/delivery-ports.js";
import type { SignedEvent } from "../../src/webhooks/send-event.js";
import { newWebhookSecret } from "../../src/webhooks/webhook-secrets.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { createLocation, createWebhook, readDeliveries, rpc, successOf, textIn } from "./webhooks-under-test.js";

const URL = "https://receiver.example.com/cupo";
const OTHER_URL = "https://receiver.example.com/other";
/** The most events that a run sends at the same time. */
const PARALLEL = 8;

let service: TestService;
let database: Database;
let as: TokenFor & { readonly tenantId: string };
let webhookId: string;
/** The URLs to which events were sent. */
let sentTo: string[];
/** Called while the first event is being sent. */
let onFirst: () => Promise<unknown>;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

beforeEach(async () => {
  as = { tenantId: randomUUID() };
  sentTo = [];
  ({ webhookId } = await createWebhook(service, { url: URL, resourceTypes: ["LOCATION"] }, as));
});

test("a run sends nothing more of a webhook that is paused; the rest stays pending", async () => {
  await createLocations(3 * PARALLEL);
  onFirst = () => update({ state: "PAUSED" });
  expect(await run()).toEqual({ kind: "MORE" });
  expect(sentTo).toHaveLength(PARALLEL);
  expect(await run()).toEqual({ kind: "DONE" });
  const pending = (await readDeliveries(service, webhookId, as)).filter(({ state }) => state === "PENDING");
  expect(pending).toHaveLength(2 * PARALLEL);
});

test("a run sends nothing more of a webhook that an answer disables, not even an event that was being judged", async () => {
  await createLocations(2);
  let onDisabled: () => void = () => undefined;
  const disabled = new Promise<void>((resolve) => (onDisabled = resolve));
  let judged = 0;
  const judge: DeliveryPorts["judge"] = async () => {
    judged += 1;
    if (judged > 1) await disabled.then(() => setImmediate());
    return "SEND";
  };
  const send = async ({ url }: SignedEvent) => (sentTo.push(url), { status: 410 });
  await run({ judge, onDisabled, sender: { send, close: () => undefined } });
  expect([judged, sentTo]).toEqual([2, [URL]]);
  const pending = (await readDeliveries(service, webhookId, as)).filter(({ attempts }) => attempts === 0);
  expect(pending).toMatchObject([{ state: "PENDING" }]);
});

test("a run sends nothing more of a webhook that is deleted", async () => {
  await createLocations(3 * PARALLEL);
  onFirst = async () => successOf(await callRpc(service, rpc.deleteWebhook, { webhookId, expectedVersion: 1 }, { as }));
  await run();
  expect(sentTo).toHaveLength(PARALLEL);
});

test("a run sends nothing more of a tenant that is suspended", async () => {
  await createLocations(3 * PARALLEL);
  onFirst = suspend;
  expect(await run()).toEqual({ kind: "MORE" });
  expect(sentTo).toHaveLength(PARALLEL);
});

test("a run stores no delivery for a tenant that is suspended", async () => {
  await createLocations(1);
  onFirst = async () => {
    await createLocations(1);
    await suspend();
  };
  expect(await run()).toEqual({ kind: "MORE" });
  expect(await readDeliveries(service, webhookId, as)).toHaveLength(1);
});

test("what waits while the URL changes is sent to the new URL", async () => {
  await createLocations(2 * PARALLEL);
  onFirst = () => update({ url: OTHER_URL });
  expect([await run(), await run()]).toEqual([{ kind: "MORE" }, { kind: "DONE" }]);
  expect(sentTo).toEqual([...Array(PARALLEL).fill(URL), ...Array(PARALLEL).fill(OTHER_URL)]);
});

test("an event after a change of the filters has the delivery that the new filters ask for", async () => {
  await createLocations(1);
  onFirst = async () => {
    await update({ resourceTypes: ["LOCATION", "PRACTITIONER"], eventTypes: ["cupo.practitioner.created"] });
    await createLocations(1);
  };
  expect([await run(), await run()]).toEqual([{ kind: "MORE" }, { kind: "DONE" }]);
  expect(await readDeliveries(service, webhookId, as)).toHaveLength(1);
});

test("a replay keeps the pending event of a test, which is not in the feed", async () => {
  const page = successOf(await callRpc(service, EventService.method.listEvents, { pageSize: 1 }, { as }));
  await createLocations(1);
  onFirst = async () => undefined;
  await run();
  successOf(await callRpc(service, rpc.testWebhook, { webhookId }, { as }));
  const request = { webhookId, cursor: textIn(page, "nextCursor"), expectedVersion: 1 };
  successOf(await callRpc(service, rpc.replayWebhook, request, { as }));
  const [delivery] = await readDeliveries(service, webhookId, as);
  expect(delivery).toMatchObject({ type: "cupo.webhook.test", state: "PENDING" });
});

async function createLocations(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await createLocation(service, as);
}

function suspend(): Promise<unknown> {
  const values = `'${as.tenantId}', 'Andina', 'SUSPENDED', 1, now(), now(), now()`;
  const columns = "tenant_id, display_name, state, version, created_at, updated_at, suspended_at";
  return service.query(`INSERT INTO tenants (${columns}) VALUES (${values})`);
}

async function update(changes: JsonObject): Promise<void> {
  successOf(await callRpc(service, rpc.updateWebhook, { webhookId, ...changes, expectedVersion: 1 }, { as }));
}

function run(changes: Partial<DeliveryPorts> = {}) {
  const secret = newWebhookSecret();
  let change: Promise<unknown> | undefined;
  const ports = {
    database,
    reader: createFeedReader(database),
    vault: { seal: () => "", open: async () => Buffer.from(secret) },
    sender: {
      send: async ({ url }: SignedEvent) => {
        sentTo.push(url);
        change ??= onFirst();
        onFirst = async () => undefined;
        await change;
        return { status: 204 };
      },
      close: () => undefined,
    },
    judge: async () => "SEND" as const,
    now: service.now,
    logger: { info: () => undefined, warn: () => undefined },
    ...changes,
  };
  return deliverWebhook(as.tenantId, webhookId, ports, new AbortController().signal, {
    onLeased: async () => undefined,
  });
}
