import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createFeedReader, type FeedReader } from "../../src/events/feed-reader.js";
import { runWebhookJobs } from "../../src/jobs/run-webhook-jobs.js";
import { addDeliveryJobs, deliveryKey } from "../../src/postgres/job-queue.js";
import { openJobQueuePool } from "../../src/postgres/job-queue-pool.js";
import type { DeliveryPorts } from "../../src/webhooks/delivery-ports.js";
import { newWebhookSecret } from "../../src/webhooks/webhook-secrets.js";
import { testNow } from "../support/clock.js";
import { createTestDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService } from "../support/service.js";
import { createLocation, createWebhook } from "./webhooks-under-test.js";

let created: TestDatabase;

beforeAll(async () => {
  created = await createTestDatabase();
});

afterAll(() => created.drop());

test("an event of the end of a run is sent at once, although the retry of another event is due much later", async () => {
  const { key, failing, later } = await twoEvents();
  const database = openServiceDatabase(created.url);
  const queuePool = openJobQueuePool({ url: created.url, maxConnections: 3, onIdleError: () => undefined });
  const reader = createFeedReader(database);
  const isQueued = async (when: string) =>
    (await execute(created.adminUrl, `SELECT FROM graphile_worker.jobs WHERE key = '${deliveryKey(key)}' AND ${when}`))
      .length > 0;
  let reads = 0;
  const read: FeedReader["read"] = async (...request) => {
    const page = await reader.read(...request);
    const end = page.events.findIndex(({ resourceId }) => resourceId === later);
    reads += 1;
    if (reads === 1) return { ...page, events: page.events.slice(0, end) };
    if (reads > 2) return page;
    await retryInAnHour();
    await addDeliveryJobs(queuePool, [key]);
    await eventually(() => isQueued("run_at BETWEEN now() AND now() + interval '1 second'"));
    return { ...page, events: [], lastPosition: request[1] };
  };
  const accepted: unknown[] = [];
  const sender: DeliveryPorts["sender"] = {
    async send({ body }) {
      const { resourceId } = JSON.parse(body);
      if (resourceId === failing) return { status: 503 };
      accepted.push(resourceId);
      return { status: 204 };
    },
    close: () => undefined,
  };
  const deliveries = { ...portsOf(database), reader: { ...reader, read }, sender };
  const stop = runWebhookJobs({ database, queuePool, onError: () => undefined }, deliveries);
  onTestFinished(async () => {
    await stop();
    await queuePool.end();
    await database.close();
  });
  await eventually(() => isQueued("run_at > now() + interval '30 minutes'"));
  expect(accepted).toEqual([later]);
});

/** Creates a webhook and two events for it, in a service that has ended and so queues no further job. */
async function twoEvents() {
  const service = await startTestService({ DATABASE_URL: created.url });
  const as = { tenantId: randomUUID() };
  const url = "https://receiver.example.com/cupo";
  const { webhookId } = await createWebhook(service, { url, resourceTypes: ["LOCATION"] }, as);
  const [failing, later] = [await createLocation(service, as), await createLocation(service, as)];
  await service.close();
  return { key: { ...as, webhookId }, failing, later };
}

function retryInAnHour(): Promise<unknown> {
  const hence = "UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE state = 'PENDING'";
  return execute(created.adminUrl, hence);
}

function portsOf(database: DeliveryPorts["database"]) {
  const secret = newWebhookSecret();
  return {
    database,
    vault: { seal: () => "", open: async () => Buffer.from(secret) },
    judge: async () => "SEND" as const,
    now: testNow,
    logger: { info: () => undefined, warn: () => undefined },
  };
}
