import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Transaction } from "../../src/call.js";
import { createFeedReader } from "../../src/events/feed-reader.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { purgeDeliveries } from "../../src/jobs/purges.js";
import type { Database } from "../../src/postgres/database.js";
import { runAsTenant } from "../../src/postgres/run-transaction.js";
import { failDelivery, findDue } from "../../src/postgres/tables/webhooks/delivery-progress.js";
import {
  findActiveWebhooks,
  findWaitingWebhooks,
  readWebhookState,
} from "../../src/postgres/tables/webhooks/webhook-overview.js";
import { deliverWebhook } from "../../src/webhooks/deliver-webhook.js";
import { DELIVERY_LIMITS } from "../../src/webhooks/delivery-limits.js";
import type { DeliveryPorts } from "../../src/webhooks/delivery-ports.js";
import type { Attempt, SignedEvent } from "../../src/webhooks/send-event.js";
import { newWebhookSecret } from "../../src/webhooks/webhook-secrets.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
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

const URL = "https://receiver.example.com/cupo";

let service: TestService;
let database: Database;
let as: TokenFor & { readonly tenantId: string };
let webhookId: string;
/** The versions of the resources in the events that were sent. */
let sent: number[];
let told: string[];
let answer: (event: SignedEvent) => Promise<Attempt>;

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
  [sent, told] = [[], []];
  answer = async () => ({ status: 204 });
  ({ webhookId } = await createWebhook(service, { url: URL, resourceTypes: ["LOCATION"] }, as));
});

describe("a run", () => {
  test("sends what the judge lets through; what it drops is not sent and does not hold back later events", async () => {
    const id = await createLocation(service, as);
    await changeLocation(service, id, 1, as);
    const judge: DeliveryPorts["judge"] = async ({ resourceVersion }) => (resourceVersion === 1 ? "DROP" : "SEND");
    expect(await run({ judge })).toEqual({ kind: "DONE" });
    expect(sent).toEqual([2]);
    const states = (await readDeliveries(service, webhookId, as)).map(({ state, attempts }) => [state, attempts]);
    expect(states).toEqual([
      ["DELIVERED", 1],
      ["DROPPED", 0],
    ]);
    expect(told).toEqual(["dropped", "delivered"]);
  });

  test("is refused while another one has the lease, and does nothing for a webhook that is not active", async () => {
    const second = await new Promise((resolve) => {
      void run({}, async () => resolve(await run()));
    });
    expect(second).toEqual({ kind: "BUSY" });
    const pause = { webhookId, state: "PAUSED", expectedVersion: 1 };
    successOf(await callRpc(service, rpc.updateWebhook, pause, { as }));
    await createLocation(service, as);
    expect(await run()).toEqual({ kind: "DONE" });
    expect(sent).toEqual([]);
  });

  test("ends with the time of the next attempt; an event that is accepted then shows no failure", async () => {
    answer = async () => ({ failure: "TIMED_OUT" });
    await createLocation(service, as);
    const result = await run();
    const [delivery] = await readDeliveries(service, webhookId, as);
    expect(result).toEqual({ kind: "LATER", at: new Date(textIn(delivery ?? {}, "nextAttemptAt")) });
    expect(delivery).toMatchObject({ state: "PENDING", attempts: 1, lastFailure: "TIMED_OUT" });
    await service.query(`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE webhook_id = '${webhookId}'`);
    answer = async () => ({ status: 204 });
    expect(await run()).toEqual({ kind: "DONE" });
    expect((await readDeliveries(service, webhookId, as))[0]).not.toHaveProperty("lastFailure");
  });

  test("that is stopped leaves its events as they were, and the rest to another one", async () => {
    const stopping = new AbortController();
    answer = async () => {
      stopping.abort();
      return { failure: "STOPPED" };
    };
    await createLocation(service, as);
    expect(await run({}, undefined, stopping.signal)).toEqual({ kind: "MORE" });
    expect((await readDeliveries(service, webhookId, as))[0]).toMatchObject({ state: "PENDING", attempts: 0 });
    answer = async () => ({ status: 200 });
    expect(await run()).toEqual({ kind: "DONE" });
  });

  test("of a webhook that is changed meanwhile makes no deliveries with the old filters", async () => {
    answer = async () => {
      const changes = { webhookId, resourceTypes: ["NOTE"], state: "PAUSED", expectedVersion: 1 };
      await callRpc(service, rpc.updateWebhook, changes, { as });
      await createLocation(service, as);
      return { status: 204 };
    };
    await createLocation(service, as);
    expect(await run()).toEqual({ kind: "MORE" });
    expect(sent).toEqual([1]);
    expect(await readDeliveries(service, webhookId, as)).toHaveLength(1);
  });

  test("continues with the oldest event of a feed that was reset, and logs a warning", async () => {
    await createLocation(service, as);
    expect(await run()).toEqual({ kind: "DONE" });
    await service.query(`UPDATE event_feeds SET feed_id = gen_random_uuid() WHERE tenant_id = '${as.tenantId}'`);
    expect(await run()).toEqual({ kind: "DONE" });
    expect(sent).toEqual([1, 1]);
    expect(told).toContain("a webhook missed events that are no longer stored; it continues with the oldest event");
  });
});

describe("a run changes nothing of another webhook of its tenant:", () => {
  let other: string;

  beforeEach(async () => {
    ({ webhookId: other } = await createWebhook(service, { url: URL, resourceTypes: ["LOCATION"] }, as));
    await run();
    await runOther();
  });

  function runOther() {
    return run({}, undefined, undefined, other);
  }

  test("neither its cursor nor its deliveries", async () => {
    const failed = await createLocation(service, as);
    await createLocation(service, as);
    answer = async ({ body }) => ({ status: JSON.parse(body).resourceId === failed ? 500 : 204 });
    expect(await run()).toMatchObject({ kind: "LATER" });
    const own = [
      ["DELIVERED", 1],
      ["PENDING", 1],
    ];
    expect([await statesOf(webhookId), await statesOf(other)]).toEqual([own, []]);
    answer = async () => ({ status: 204 });
    expect(await runOther()).toEqual({ kind: "DONE" });
    const delivered = ["DELIVERED", 1];
    expect([await statesOf(webhookId), await statesOf(other)]).toEqual([own, [delivered, delivered]]);
    const due = await Promise.all([webhookId, other].map((id) => onTenant((each) => findDue(each, id, [], 10))));
    expect(due).toEqual([
      { heads: [], pending: 1 },
      { heads: [], pending: 0 },
    ]);
  });

  test("not its state", async () => {
    await createLocation(service, as);
    answer = async () => ({ status: 410 });
    await run();
    expect(await readWebhook(service, webhookId, as)).toMatchObject({ state: "DISABLED", version: 2 });
    expect(await readWebhook(service, other, as)).toMatchObject({ state: "ACTIVE", version: 1 });
  });

  test("not its lease", async () => {
    await takeOver(other);
    expect(await run()).toEqual({ kind: "DONE" });
    expect(await runOther()).toEqual({ kind: "BUSY" });
  });
});

test("a run whose webhook another process has taken over does not end the lease of that process", async () => {
  await createLocation(service, as);
  answer = async () => {
    await takeOver(webhookId);
    return { status: 204 };
  };
  await run();
  expect(await run()).toEqual({ kind: "BUSY" });
});

test("the time for retries is over at its last instant, and only for a pending delivery", async () => {
  await createLocation(service, as);
  await createLocation(service, as);
  answer = async () => ({ status: 500 });
  await run();
  const [one, two] = (await readDeliveries(service, webhookId, as)).map((each) => textIn(each, "deliveryId"));
  await service.query(`UPDATE webhook_deliveries SET first_attempt_at = NULL WHERE webhook_id = '${webhookId}'`);
  const fail = (id = "", limitHours = 0) => {
    const attempt = { status: 500, failure: undefined, beganMs: 0, pauseMs: 1_000, limitHours };
    return onTenant((each) => failDelivery(each, { id, webhookId }, attempt));
  };
  expect([await fail(one, 1), await fail(two, 0)]).toEqual([false, true]);
  await service.query(`UPDATE webhook_deliveries SET state = 'DELIVERED' WHERE id = '${two}'`);
  expect(await fail(two)).toBe(false);
  expect(await statesOf(webhookId)).toEqual([
    ["PENDING", 2],
    ["DELIVERED", 2],
  ]);
});

test("a replay deletes the pending deliveries of the events after its cursor only", async () => {
  const page = async () => successOf(await callRpc(service, EventService.method.listEvents, {}, { as }));
  answer = async () => ({ status: 500 });
  await createLocation(service, as);
  const cursor = textIn(await page(), "nextCursor");
  await createLocation(service, as);
  await run();
  const [, kept] = await readDeliveries(service, webhookId, as);
  successOf(await callRpc(service, rpc.replayWebhook, { webhookId, cursor, expectedVersion: 1 }, { as }));
  expect(await readDeliveries(service, webhookId, as)).toEqual([kept]);
});

test("only an active webhook of the asked tenant is found, and no paused one waits for a job", async () => {
  await createWebhook(service, { url: URL }, { tenantId: randomUUID() });
  const { tenantId } = as;
  expect(await findActiveWebhooks(database, [tenantId])).toEqual([{ tenantId, webhookId }]);
  await createLocation(service, as);
  successOf(await callRpc(service, EventService.method.listEvents, {}, { as }));
  const waiting = async () => (await findWaitingWebhooks(database)).map((each) => each.webhookId);
  expect(await waiting()).toContain(webhookId);
  const pause = { webhookId, state: "PAUSED", expectedVersion: 1 };
  successOf(await callRpc(service, rpc.updateWebhook, pause, { as }));
  expect(await findActiveWebhooks(database, [tenantId])).toEqual([]);
  expect(await waiting()).not.toContain(webhookId);
});

test("a webhook waits for a job while the feed has events for it or retries are due, unless it is leased", async () => {
  const waits = async () => (await findWaitingWebhooks(database)).some((key) => key.webhookId === webhookId);
  await run();
  expect(await waits()).toBe(false);
  await createLocation(service, as);
  expect(await waits()).toBe(true);
  answer = async () => ({ status: 500 });
  await run();
  expect(await waits()).toBe(false);
  const set = (values: string) =>
    service.query(`UPDATE webhook_deliveries SET ${values} WHERE webhook_id = '${webhookId}'`);
  await set("next_attempt_at = now()");
  expect(await waits()).toBe(true);
  const lease = "lease_id = gen_random_uuid(), leased_until = now() + interval '1 minute'";
  await service.query(`UPDATE webhooks SET ${lease} WHERE id = '${webhookId}'`);
  expect(await waits()).toBe(false);
});

test("the state of all webhooks has pending events of active ones, and disabled ones", async () => {
  const before = await readWebhookState(database);
  await createLocation(service, as);
  answer = async () => ({ status: 500 });
  await run();
  const old = `UPDATE webhook_deliveries SET created_at = now() - interval '1 day' WHERE webhook_id = '${webhookId}'`;
  await service.query(old);
  const state = await readWebhookState(database);
  expect(state.pending).toBe(before.pending + 1);
  expect(state.oldestSeconds).toBeGreaterThanOrEqual(86_400);
  await service.query(`UPDATE webhooks SET state = 'DISABLED', disabled_reason = 'GONE' WHERE id = '${webhookId}'`);
  expect(await readWebhookState(database)).toMatchObject({ pending: before.pending, disabled: before.disabled + 1 });
});

test("deliveries are purged after 30 days", async () => {
  await createLocation(service, as);
  await createLocation(service, as);
  await run();
  const ofWebhook = `webhook_id = '${webhookId}'`;
  await service.query(
    `UPDATE webhook_deliveries SET created_at = now() - interval '29 days 23 hours' WHERE ${ofWebhook};
     UPDATE webhook_deliveries SET created_at = now() - interval '30 days 1 hour'
     WHERE id = (SELECT min(id::text)::uuid FROM webhook_deliveries WHERE ${ofWebhook})`,
  );
  expect(await purgeDeliveries(database)).toBe(1);
  expect(await readDeliveries(service, webhookId, as)).toHaveLength(1);
});

/** Returns the states of the deliveries of a webhook and how often each was tried, newest first. */
async function statesOf(id: string): Promise<unknown[]> {
  return (await readDeliveries(service, id, as)).map(({ state, attempts }) => [state, attempts]);
}

/** Gives the lease of a webhook to another process. */
async function takeOver(id: string): Promise<void> {
  const lease = "lease_id = gen_random_uuid(), leased_until = now() + interval '1 minute'";
  await service.query(`UPDATE webhooks SET ${lease} WHERE id = '${id}'`);
}

function onTenant<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return runAsTenant(database, as.tenantId, DELIVERY_LIMITS, work);
}

function run(
  ports: Partial<DeliveryPorts> = {},
  onLeased: () => Promise<unknown> = async () => undefined,
  stop: AbortSignal = new AbortController().signal,
  id = webhookId,
) {
  const secret = newWebhookSecret();
  const all: DeliveryPorts = {
    database,
    reader: createFeedReader(database),
    vault: { seal: () => "", open: async () => Buffer.from(secret) },
    sender: {
      send: (event) => {
        sent.push(Number(JSON.parse(event.body).resourceVersion));
        return answer(event);
      },
      close: () => undefined,
    },
    judge: async () => "SEND",
    now: service.now,
    logger: { info: () => undefined, warn: (_: unknown, text?: string) => void told.push(String(text)) },
    onAttempt: (outcome) => told.push(outcome),
    ...ports,
  };
  return deliverWebhook(as.tenantId, id, all, stop, { onLeased: async () => void (await onLeased()) });
}
