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
  probe = openReadinessProbe({ url: proxy.url, onReadOnly: () => undefined });
  onTestFinished(async () => {
    await probe.close();
    await proxy.close();
    await database.drop();
  });
});

afterEach(() => vi.useRealTimers());

test("that a database went away is known at the first question, and that it is back at the next", async () => {
  stopTimers();
  expect(await probe.takesWrites()).toBe(true);
  proxy.setDown(true);
  expect(await probe.takesWrites()).toBe(false);
  proxy.setDown(false);
  expect(await probe.takesWrites()).toBe(true);
});

test("a connection that is cut while it is asked is a database that is away, and ends nothing else", async () => {
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

test("a database that says nothing more is not waited for longer than a second", async () => {
  stopTimers();
  expect(await probe.takesWrites()).toBe(true);
  const question = proxy.holdBefore(QUESTION);
  const answer = probe.takesWrites();
  await question.reached;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await answer).toBe(false);
  question.release();
});

test("nor is one that lets itself be connected to slowly, and then says nothing", async () => {
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

/** So that no answer is late, however busy the machine is, until a test says that time passes. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
}
