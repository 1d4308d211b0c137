import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebhookKey } from "../../src/postgres/tables/webhooks/webhook-overview.js";
import { createWebhookWakes, type WebhookWakes } from "../../src/webhooks/webhook-wakes.js";

const first: WebhookKey = { tenantId: "one", webhookId: "first" };
const second: WebhookKey = { tenantId: "one", webhookId: "second" };

let active: readonly WebhookKey[];
let asked: string[][];
let queued: string[][];
let errors: unknown[];
let wakes: WebhookWakes;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  [active, asked, queued, errors] = [[], [], [], []];
  wakes = createWebhookWakes({
    findActive: async (tenantIds) => {
      asked.push([...tenantIds]);
      return active.filter(({ tenantId }) => tenantIds.includes(tenantId));
    },
    addJobs: async (webhooks) => void queued.push(webhooks.map(({ webhookId }) => webhookId)),
    onError: (error) => errors.push(error),
  });
});

afterEach(async () => {
  await wakes.close();
  vi.useRealTimers();
});

test("commits of a moment are one question and one job", async () => {
  active = [first];
  for (let n = 0; n < 100; n++) wakes.committed("one");
  await vi.advanceTimersByTimeAsync(100);
  expect([asked, queued]).toEqual([[["one"]], [["first"]]]);
});

test("a tenant without webhooks is not asked for again within 2 s, and its commits are not forgotten", async () => {
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(100);
  active = [first];
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(1_000);
  expect([asked.length, queued]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([asked.length, queued]).toEqual([2, [["first"]]]);
});

test("a webhook that is new is woken for commits that came before it was known", async () => {
  active = [first];
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(100);
  active = [first, second];
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(3_000);
  expect(queued).toEqual([["first"], ["first"], ["first", "second"]]);
});

test("after 2 s, a commit asks for the webhooks of its tenant again before it wakes them", async () => {
  active = [first];
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(2_200);
  active = [first, second];
  wakes.committed("one");
  await vi.advanceTimersByTimeAsync(100);
  expect(queued).toEqual([["first"], ["first", "second"]]);
});

test("the first of several failures is reported, and the next one after a success; each commit tries again", async () => {
  let isAway: boolean;
  const failing = createWebhookWakes({
    findActive: async () => (isAway ? Promise.reject(new Error("away")) : []),
    addJobs: async () => undefined,
    onError: (error) => errors.push(error),
  });
  for (const [turn, reported] of [
    [true, 1],
    [true, 1],
    [false, 1],
    [true, 2],
  ] as const) {
    isAway = turn;
    failing.committed("one");
    await vi.advanceTimersByTimeAsync(2_200);
    expect(errors).toHaveLength(reported);
  }
  await failing.close();
});
