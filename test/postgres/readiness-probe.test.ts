import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openReadinessProbe, type ReadinessProbe } from "../../src/postgres/readiness-probe.js";
import { createTestDatabase } from "../support/database.js";
import { type PostgresProxy, startPostgresProxy } from "../support/postgres-proxy.js";

const QUESTION = "transaction_read_only";

let proxy: PostgresProxy;
let probe: ReadinessProbe;

beforeEach(async () => {
  const database = await createTestDatabase();
  proxy = await startPostgresProxy(database.url);
  probe = openReadinessProbe({ url: proxy.url, onModeChanged: () => undefined });
  onTestFinished(async () => {
    await probe.close();
    await proxy.close();
    await database.drop();
  });
});

afterEach(() => vi.useRealTimers());

test("the first probe detects that a database is unreachable, and the next one that it is back", async () => {
  stopTimers();
  expect(await probe.takesWrites()).toBe(true);
  proxy.setDown(true);
  expect(await probe.takesWrites()).toBe(false);
  proxy.setDown(false);
  expect(await probe.takesWrites()).toBe(true);
});

test("a connection that breaks during a probe means an unreachable database, and breaks nothing else", async () => {
  stopTimers();
  expect(await probe.takesWrites()).toBe(true);
  const question = proxy.holdBefore(QUESTION);
  const answer = probe.takesWrites();
  await question.reached;
  proxy.setDown(true);
  expect(await answer).toBe(false);
  proxy.setDown(false);
  expect(await probe.takesWrites()).toBe(true);
});

test("a probe waits at most a second for an answer", async () => {
  stopTimers();
  expect(await probe.takesWrites()).toBe(true);
  const question = proxy.holdBefore(QUESTION);
  const answer = probe.takesWrites();
  await question.reached;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await answer).toBe(false);
  question.release();
});

test("a probe waits at most a second in total for a slow connection and an answer", async () => {
  const connecting = proxy.holdBefore("cupo-readiness");
  const question = proxy.holdBefore(QUESTION);
  stopTimers();
  const answer = probe.takesWrites();
  await connecting.reached;
  await vi.advanceTimersByTimeAsync(700);
  connecting.release();
  await question.reached;
  await vi.advanceTimersByTimeAsync(300);
  expect(await answer).toBe(false);
  question.release();
});

/** Stops timers, so that no answer is late on a busy machine until a test advances the time. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
}
