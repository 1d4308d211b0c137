import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { MAX_WEBHOOKS } from "../../src/services/webhooks/webhook-service.js";
import { expectRefusal } from "../operations-clinic/rpc-under-test.js";
import { eventually } from "../support/eventually.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import {
  createLocation,
  createWebhook,
  readDeliveries,
  readWebhook,
  rpc,
  successOf,
  textIn,
} from "./webhooks-under-test.js";

const URL = "https://receiver.example.com/cupo";
/** The operations on one webhook, with valid values of their other fields. */
const ON_ONE: readonly (readonly [keyof typeof rpc, JsonObject])[] = [
  ["getWebhook", {}],
  ["updateWebhook", { state: "PAUSED", expectedVersion: 1 }],
  ["deleteWebhook", { expectedVersion: 1 }],
  ["rotateWebhookSecret", { expectedVersion: 1 }],
  ["testWebhook", {}],
  ["listWebhookDeliveries", {}],
];

let service: TestService;
/** A principal of a tenant of its own. */
let as: TokenFor;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

beforeEach(() => {
  as = { tenantId: randomUUID() };
});

describe("a new webhook", () => {
  test("is active and has a secret of 32 bytes, which no read returns", async () => {
    const { webhookId, secret } = await createWebhook(service, { url: URL, resourceTypes: ["APPOINTMENT"] }, as);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const webhook = await readWebhook(service, webhookId, as);
    expect(webhook).toMatchObject({
      url: URL,
      resourceTypes: ["APPOINTMENT"],
      eventTypes: [],
      state: "ACTIVE",
      version: 1,
    });
    const listed = successOf(await callRpc(service, rpc.listWebhooks, {}, { as }));
    expect(listed["webhooks"]).toEqual([webhook]);
    expect(JSON.stringify([webhook, listed])).not.toContain("whsec_");
  });

  test("is stored without its secret in plain text, in any table, and a replay returns the same secret", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const call = () => callRpc(service, rpc.createWebhook, { url: URL }, { as, headers });
    const [first, second] = [await call(), await call()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const { secret } = first.body;
    const hex = Buffer.from(String(secret)).toString("hex");
    const [stored] = await service.query(
      `SELECT (SELECT string_agg(w::text, '') FROM webhooks w) || (SELECT string_agg(k::text, '') FROM idempotency_keys k) AS text`,
    );
    expect(String(stored?.["text"])).toContain(textIn(first.body["webhook"] as JsonObject, "webhookId"));
    expect(String(stored?.["text"])).not.toContain(hex);
    expect(String(stored?.["text"])).not.toContain(String(secret));
  });

  test.each([
    ["http://receiver.example.com/", "begin with https://"],
    ["https://10.0.0.1/", "name a host on the public internet"],
    ["not a URL", "be an absolute https URL"],
  ])("is refused with 422 for the URL %s", async (url, refusal) => {
    const answer = await callRpc(service, rpc.createWebhook, { url }, { as });
    expectRefusal(answer, 422, ["url INVALID_VALUE"]);
    expect(JSON.stringify(answer.body)).toContain(refusal);
  });

  test.each([
    [{ url: "" }, "url TOO_SHORT"],
    [{ url: `https://receiver.example.com/${"x".repeat(2_048)}` }, "url TOO_LONG"],
    [{ url: URL, resourceTypes: ["APPOINTMENT", "APPOINTMENT"] }, "resourceTypes[1] DUPLICATE"],
    [{ url: URL, eventTypes: ["appointment.created"] }, "eventTypes[0] INVALID_FORMAT"],
  ])("is refused with 422 for a field that breaks a rule: %j", async (request, item) => {
    const answer = await callRpc(service, rpc.createWebhook, request, { as });
    expectRefusal(answer, 422, [item]);
  });

  test("is refused if the tenant has the most webhooks already, also when many are created at once", async () => {
    const created = await Promise.all(
      Array.from({ length: MAX_WEBHOOKS + 5 }, () => callRpc(service, rpc.createWebhook, { url: URL }, { as })),
    );
    expect(created.filter(({ status }) => status === 200)).toHaveLength(MAX_WEBHOOKS);
    for (const answer of created.filter(({ status }) => status !== 200)) expectRefusal(answer, 422, ["url TOO_MANY"]);
  });
});

describe("an update", () => {
  test("changes what is sent, and lists to empty if the mask names them", async () => {
    const request = { url: URL, resourceTypes: ["PATIENT"], eventTypes: ["cupo.patient.created"] };
    const { webhookId } = await createWebhook(service, request, as);
    const changes = { url: `${URL}/2`, state: "PAUSED", updateMask: "url,state,resourceTypes" };
    const { webhook } = successOf(
      await callRpc(service, rpc.updateWebhook, { webhookId, expectedVersion: 1, ...changes }, { as }),
    );
    expect(webhook).toMatchObject({ url: `${URL}/2`, state: "PAUSED", resourceTypes: [], version: 2 });
    expect(webhook).toMatchObject({ eventTypes: ["cupo.patient.created"] });
    expect(await readWebhook(service, webhookId, as)).toEqual(webhook);
  });

  test("needs an allowed URL, a state that callers may set, and the current version", async () => {
    const { webhookId } = await createWebhook(service, { url: URL }, as);
    const update = (changes: JsonObject) =>
      callRpc(service, rpc.updateWebhook, { webhookId, expectedVersion: 1, ...changes }, { as });
    expectRefusal(await update({ url: "https://127.0.0.1/" }), 422, ["url INVALID_VALUE"]);
    expectRefusal(await update({ state: "DISABLED" }), 422, ["state INVALID_VALUE"]);
    expectRefusal(await update({ state: "PAUSED", expectedVersion: 2 }), 409, ["expectedVersion STALE_VERSION"]);
  });
});

test("an activation forgets the failed attempts of pending deliveries, and other updates do not", async () => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  successOf(await callRpc(service, rpc.testWebhook, { webhookId }, { as }));
  await service.query(
    `UPDATE webhook_deliveries SET attempts = 3, first_attempt_at = now() WHERE webhook_id = '${webhookId}'`,
  );
  const firstAttempt = () =>
    service.query(`SELECT first_attempt_at AS at FROM webhook_deliveries WHERE webhook_id = '${webhookId}'`);
  const attemptsAfter = async (changes: JsonObject, expectedVersion: number) => {
    successOf(await callRpc(service, rpc.updateWebhook, { webhookId, expectedVersion, ...changes }, { as }));
    return (await readDeliveries(service, webhookId, as)).map(({ attempts }) => attempts);
  };
  expect(await attemptsAfter({ url: `${URL}/2` }, 1)).toEqual([3]);
  expect(await attemptsAfter({ state: "PAUSED" }, 2)).toEqual([3]);
  expect(await attemptsAfter({ url: URL }, 3)).toEqual([3]);
  expect(await firstAttempt()).toEqual([{ at: expect.any(Date) }]);
  expect(await attemptsAfter({ state: "ACTIVE" }, 4)).toEqual([0]);
  expect(await firstAttempt()).toEqual([{ at: null }]);
});

test("a committed event queues a delivery to each active webhook of its tenant", async () => {
  const webhooks = [await createWebhook(service, { url: URL }, as), await createWebhook(service, { url: URL }, as)];
  await service.query("DELETE FROM graphile_worker._private_jobs");
  await createLocation(service, as);
  const ofTenant = `payload ->> 'tenantId' = '${as.tenantId}'`;
  const queued = () => service.query(`SELECT key FROM graphile_worker._private_jobs WHERE ${ofTenant} ORDER BY key`);
  await eventually(async () => (await queued()).length === webhooks.length);
  const keys = webhooks.map(({ webhookId }) => `deliver_webhook:${webhookId}`).toSorted();
  expect(await queued()).toEqual(keys.map((key) => ({ key })));
});

test("a deleted webhook is not found any more, and its pending deliveries are gone", async () => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  successOf(await callRpc(service, rpc.testWebhook, { webhookId }, { as }));
  const { webhook } = successOf(await callRpc(service, rpc.deleteWebhook, { webhookId, expectedVersion: 1 }, { as }));
  expect(webhook).toMatchObject({ webhookId, version: 1 });
  expectRefusal(await callRpc(service, rpc.getWebhook, { webhookId }, { as }), 404);
  expect(await service.query(`SELECT FROM webhook_deliveries WHERE webhook_id = '${webhookId}'`)).toEqual([]);
  const ofWebhooks = { resourceTypes: ["WEBHOOK"], start: "OLDEST" };
  const { events } = successOf(await callRpc(service, EventService.method.listEvents, ofWebhooks, { as }));
  expect((events as JsonObject[]).at(-1)).toMatchObject({ type: "cupo.webhook.deleted", resourceVersion: 2 });
});

test("a rotation returns another secret, shows until when the former one signs, and a replay returns the same", async () => {
  const { webhookId, secret } = await createWebhook(service, { url: URL }, as);
  const headers = { "idempotency-key": randomUUID() };
  const rotate = () => callRpc(service, rpc.rotateWebhookSecret, { webhookId, expectedVersion: 1 }, { as, headers });
  const [first, replayed] = [await rotate(), await rotate()];
  expect(replayed.body).toEqual(first.body);
  expect(first.body["secret"]).not.toBe(secret);
  const until = Date.parse(textIn(first.body["webhook"] as JsonObject, "formerSecretUntil"));
  expect(Math.abs(until - service.now() - 86_400_000)).toBeLessThan(60_000);
});

test.each([
  ["deletion", rpc.deleteWebhook],
  ["rotation", rpc.rotateWebhookSecret],
])("a %s needs the current version", async (_, method) => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  const answer = await callRpc(service, method, { webhookId, expectedVersion: 2 }, { as });
  expectRefusal(answer, 409, ["expectedVersion STALE_VERSION"]);
  expect(await readWebhook(service, webhookId, as)).toMatchObject({ version: 1 });
});

test("a test of a paused webhook is a conflict", async () => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  const pause = { webhookId, state: "PAUSED", expectedVersion: 1 };
  successOf(await callRpc(service, rpc.updateWebhook, pause, { as }));
  expectRefusal(await callRpc(service, rpc.testWebhook, { webhookId }, { as }), 409, ["webhookId STATE_NOT_ALLOWED"]);
});

test("a job that sends to a webhook is requested by a test, a replay and an activation", async () => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  const cursor = textIn(successOf(await callRpc(service, EventService.method.listEvents, {}, { as })), "nextCursor");
  const jobsAfter = async (method: DescMethodUnary, request: JsonObject) => {
    await service.query("DELETE FROM graphile_worker._private_jobs");
    successOf(await callRpc(service, method, { webhookId, ...request }, { as }));
    return service.query(`SELECT FROM graphile_worker.jobs WHERE key = 'deliver_webhook:${webhookId}'`);
  };
  expect(await jobsAfter(rpc.testWebhook, {})).toHaveLength(1);
  expect(await jobsAfter(rpc.replayWebhook, { cursor, expectedVersion: 1 })).toHaveLength(1);
  successOf(await callRpc(service, rpc.updateWebhook, { webhookId, state: "PAUSED", expectedVersion: 2 }, { as }));
  expect(await jobsAfter(rpc.updateWebhook, { state: "ACTIVE", expectedVersion: 3 })).toHaveLength(1);
});

describe("a replay", () => {
  test("needs a cursor of the feed whose events are stored, and the current version", async () => {
    const { webhookId } = await createWebhook(service, { url: URL }, as);
    await createLocation(service, as);
    const nextCursor = textIn(
      successOf(await callRpc(service, EventService.method.listEvents, {}, { as })),
      "nextCursor",
    );
    const replay = (cursor: string, expectedVersion = 1) =>
      callRpc(service, rpc.replayWebhook, { webhookId, cursor, expectedVersion }, { as });
    expectRefusal(await replay("nonsense"), 422, ["cursor INVALID_VALUE"]);
    expectRefusal(await replay(nextCursor, 7), 409, ["expectedVersion STALE_VERSION"]);
    const stranger = { tenantId: randomUUID() };
    await createLocation(service, stranger);
    const other = successOf(await callRpc(service, EventService.method.listEvents, {}, { as: stranger }));
    expectRefusal(await replay(textIn(other, "nextCursor")), 409, ["cursor OUT_OF_RANGE"]);
    const { webhook } = successOf(await replay(nextCursor));
    expect(webhook).toMatchObject({ version: 2 });
  });
});

describe("a webhook is not found by a caller of another", () => {
  const inside = { organizationId: randomUUID(), companyId: randomUUID() };

  test.each([
    ["tenant", () => ({ ...inside, tenantId: randomUUID() })],
    ["organization", () => ({ ...as, ...inside, organizationId: randomUUID() })],
    ["company", () => ({ ...as, ...inside, companyId: randomUUID() })],
  ])("%s, by no operation", async (_, outsider) => {
    const owner = { ...as, ...inside };
    const { webhookId } = await createWebhook(service, { url: URL }, owner);
    for (const [name, request] of ON_ONE) {
      const method = rpc[name];
      if (method.methodKind !== "unary") throw new Error("a stream");
      expectRefusal(await callRpc(service, method, { webhookId, ...request }, { as: outsider() }), 404);
    }
    const listed = successOf(await callRpc(service, rpc.listWebhooks, {}, { as: outsider() }));
    expect(listed["webhooks"]).toEqual([]);
    expect(await readWebhook(service, webhookId, owner)).toMatchObject({ version: 1, state: "ACTIVE" });
  });
});

test("pages of deliveries are newest first, of one webhook, and keep their filter", async () => {
  const { webhookId } = await createWebhook(service, { url: URL }, as);
  const { webhookId: beside } = await createWebhook(service, { url: URL }, as);
  successOf(await callRpc(service, rpc.testWebhook, { webhookId: beside }, { as }));
  const sent: unknown[] = [];
  for (let n = 0; n < 3; n++) {
    const { delivery } = successOf(await callRpc(service, rpc.testWebhook, { webhookId }, { as }));
    sent.unshift((delivery as JsonObject)["deliveryId"]);
  }
  const list = (request: JsonObject) =>
    callRpc(service, rpc.listWebhookDeliveries, { webhookId, pageSize: 2, ...request }, { as });
  const first = successOf(await list({ state: "PENDING" }));
  const { nextPageToken } = first;
  const second = successOf(await list({ state: "PENDING", pageToken: nextPageToken ?? "" }));
  const ids = [first, second].flatMap(({ deliveries }) =>
    (deliveries as JsonObject[]).map((each) => each["deliveryId"]),
  );
  expect(ids).toEqual(sent);
  expect(successOf(await list({ state: "DELIVERED" }))["deliveries"]).toEqual([]);
  expectRefusal(await list({ state: "DELIVERED", pageToken: nextPageToken ?? "" }), 422, ["pageToken INVALID_VALUE"]);
});
