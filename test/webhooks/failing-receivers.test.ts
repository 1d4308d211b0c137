import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { MAX_WEBHOOKS } from "../../src/services/webhooks/webhook-service.js";
import { eventually } from "../support/eventually.js";
import { startTestService, type TestService } from "../support/service.js";
import { type Behaviour, RECEIVERS_ALLOWED, type ReceivedEvent, type Receiver, startReceiver } from "./receiver.js";
import { changeLocation, createLocation, createWebhook } from "./webhooks-under-test.js";

const RESOURCES = 8;
const CHANGES = 3;
const MANY = 20;
/** The time that each event has in a service with little patience, in milliseconds. */
const SEND_TIMEOUT_MS = 500;

let service: TestService;

beforeAll(async () => {
  service = await startTestService(RECEIVERS_ALLOWED, { runsJobs: true });
});

afterAll(() => service.close());

test("a receiver that fails or stalls 30 % gets every event, those of a resource in order; others are not delayed", async () => {
  const hasty = await startTestService(RECEIVERS_ALLOWED, { runsJobs: true, sendTimeoutMs: SEND_TIMEOUT_MS });
  onTestFinished(() => hasty.close());
  const as = { tenantId: randomUUID() };
  const bad = await openReceiver(failing());
  const stalled = await openReceiver(() => "STALL");
  const good = await openReceiver(() => 204);
  for (const { url } of [bad, stalled, good]) await createWebhook(hasty, { url, resourceTypes: ["LOCATION"] }, as);
  const ids = await Promise.all(
    Array.from({ length: RESOURCES }, async () => {
      const id = await createLocation(hasty, as);
      for (let version = 1; version <= CHANGES; version++) await changeLocation(hasty, id, version, as);
      return id;
    }),
  );
  const total = RESOURCES * (CHANGES + 1);
  const acceptedByBad = () => new Set(bad.accepted.map(({ eventId }) => eventId)).size;
  await eventually(() => good.accepted.length >= total);
  expect(acceptedByBad()).toBeLessThan(total);
  expectComplete(good, ids);
  expect(good.arrived).toHaveLength(total);
  while (acceptedByBad() < total) {
    await hasten(hasty);
    const before = bad.arrived.length;
    await eventually(() => bad.arrived.length > before || acceptedByBad() === total);
  }
  expectComplete(bad, ids);
  expect(bad.arrived.length).toBeGreaterThan(total);
  expect(bad.mostAtOnce).toBeGreaterThan(1);
  expect(stalled.accepted).toEqual([]);
});

test("as many stalled webhooks as a tenant can have do not delay the events of another tenant", async () => {
  const slow = { tenantId: randomUUID() };
  const stalled = await openReceiver(() => "STALL");
  for (let n = 0; n < MAX_WEBHOOKS; n++) {
    await createWebhook(service, { url: stalled.url, resourceTypes: ["LOCATION"] }, slow);
  }
  for (let n = 0; n < MANY; n++) await createLocation(service, slow);
  await eventually(() => stalled.arrived.length >= MAX_WEBHOOKS);
  const good = await openReceiver(() => 204);
  const as = { tenantId: randomUUID() };
  await createWebhook(service, { url: good.url, resourceTypes: ["LOCATION"] }, as);
  await createLocation(service, as);
  await eventually(() => good.accepted.length === 1);
  const open = stalled.mostAtOnce;
  expect(stalled.arrived, "no stalled request has ended").toHaveLength(open);
});

test("a receiver that accepts nothing rests after eight events", async () => {
  const as = { tenantId: randomUUID() };
  const down = await openReceiver(() => 503);
  await createWebhook(service, { url: down.url, resourceTypes: ["LOCATION"] }, as);
  for (let n = 0; n < MANY; n++) await createLocation(service, as);
  await eventually(async () => {
    const [webhook] = await service.query(
      `SELECT leased_until > now() AS rests FROM webhooks WHERE tenant_id = '${as.tenantId}'`,
    );
    return webhook?.["rests"] === true && down.arrived.length >= 8;
  });
  expect(down.arrived.length).toBeLessThan(MANY);
});

/** Every version of each resource was accepted, in order, and no two events of a resource were with the receiver at once. */
function expectComplete(receiver: Receiver, ids: readonly string[]): void {
  for (const id of ids) {
    const versions = firstAccepted(receiver.accepted.filter(({ resourceId }) => resourceId === id));
    expect(versions).toEqual(Array.from({ length: CHANGES + 1 }, (_, index) => index + 1));
  }
  expect(receiver.overlapping).toEqual([]);
}

/** The versions in the order in which they were first accepted. */
function firstAccepted(events: readonly ReceivedEvent[]): (number | undefined)[] {
  return [...new Map(events.map((event) => [event.eventId, event.resourceVersion])).values()];
}

/** Makes all retries due, instead of waiting for hours. */
async function hasten({ query }: Pick<TestService, "query">): Promise<void> {
  await query("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'PENDING'");
  await query("SELECT graphile_worker.add_job('find_webhooks')");
}

/** Returns a behaviour that does not accept three of ten events: two get 503, and one no answer. */
function failing(): Behaviour {
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived % 10 === 9) return "STALL";
    return arrived % 10 === 3 || arrived % 10 === 6 ? 503 : 204;
  };
}

async function openReceiver(behaviour: Behaviour): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.behave(behaviour);
  onTestFinished(() => receiver.close());
  return receiver;
}
