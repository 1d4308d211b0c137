import { Code, ConnectError, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHealth, type HealthOptions } from "../src/health.js";
import { Health, ServingStatus } from "../src/index.js";
import { createOpenStreams } from "../src/open-streams.js";

const INTERVAL_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the program is asked", () => {
  test("once for all services of a list", async () => {
    const isServing = vi.fn(() => true);
    const { statuses = {} } = await listOf({ isServing });
    expect(Object.keys(statuses)).toEqual(["", "a.A", "b.B"]);
    expect(isServing).toHaveBeenCalledTimes(1);
  });

  test("once per interval for any number of watches", async () => {
    const isServing = vi.fn(() => Promise.resolve(true));
    const isServiceServing = vi.fn(() => true);
    const health = healthOf({ isServing, isServiceServing });
    for (let i = 0; i < 20; i += 1) void follow(health, "a.A");
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(isServing.mock.calls.length).toBeLessThanOrEqual(11);
    expect(isServing.mock.calls.length).toBeGreaterThanOrEqual(5);
    expect(isServiceServing.mock.calls.length).toBeLessThanOrEqual(11);
  });

  test("not again while it does not answer", async () => {
    const isServing = vi.fn(() => new Promise<boolean>(() => undefined));
    const health = healthOf({ isServing });
    void follow(health, "a.A");
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    void follow(health, "b.B");
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(isServing).toHaveBeenCalledTimes(1);
  });

  test("for a service only while the server serves, and never for the whole server", async () => {
    const isServiceServing = vi.fn(() => true);
    await listOf({ isServing: () => false, isServiceServing });
    expect(isServiceServing).not.toHaveBeenCalled();
    await listOf({ isServiceServing });
    expect(isServiceServing.mock.calls).toEqual([["a.A"], ["b.B"]]);
  });

  test.each<[string, () => boolean | Promise<boolean>]>([
    ["an exception", () => raise()],
    ["a rejection", () => Promise.reject(new Error("away"))],
  ])("and %s counts as false", async (_, ask) => {
    expect(await statusesOf({ isServing: ask })).toEqual([2, 2, 2]);
    expect(await statusesOf({ isServiceServing: ask })).toEqual([1, 2, 2]);
  });
});

describe("a watch", () => {
  test("receives a status only when it changes", async () => {
    let isServing = true;
    const { told } = follow(healthOf({ isServing: () => isServing }), "a.A");
    await vi.advanceTimersByTimeAsync(5 * INTERVAL_MS);
    isServing = false;
    await vi.advanceTimersByTimeAsync(5 * INTERVAL_MS);
    expect(told).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  });

  test("ends when the server stops, though the program does not answer", async () => {
    const stopping = new AbortController();
    const options = { isServing: () => new Promise<boolean>(() => undefined), stopping: stopping.signal };
    const { told, ended } = follow(healthOf(options), "a.A");
    stopping.abort();
    await ended;
    expect(told).toEqual([ServingStatus.NOT_SERVING]);
  });

  test("ends with deadline_exceeded at its deadline, and tells no status for that", async () => {
    const context = contextOf({ timeoutMs: 2_500 });
    const { told, ended } = follow(healthOf({}), "a.A", context);
    const outcome = expect(ended).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    await vi.advanceTimersByTimeAsync(2_500);
    await outcome;
    expect(told).toEqual([ServingStatus.SERVING]);
  });

  test("ends with the error that a stopping server chooses", async () => {
    const stopping = new AbortController();
    const { told, ended } = follow(healthOf({ stopping: stopping.signal }), "a.A");
    const outcome = expect(ended).rejects.toMatchObject({ code: Code.Unavailable });
    await vi.advanceTimersByTimeAsync(0);
    stopping.abort(new ConnectError("stopping", Code.Unavailable));
    await outcome;
    expect(told).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  });

  test("leaves no timer when its caller has left", async () => {
    const context = contextOf();
    const { ended } = follow(healthOf({}), "a.A", context);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(1);
    context.abort();
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  });
});

function healthOf(options: Partial<HealthOptions>) {
  return createHealth({
    services: () => ["a.A", "b.B"],
    isServing: () => true,
    watchIntervalMs: INTERVAL_MS,
    openStream: createOpenStreams(100, options.stopping),
    ...options,
  });
}

function contextOf(init: { readonly timeoutMs?: number } = {}) {
  const method = Health.method.watch;
  const call = { service: Health, method, protocolName: "grpc", requestMethod: "POST", url: "http://localhost/" };
  return createHandlerContext({ ...call, ...init });
}

/** Collects the statuses of a watch. */
function follow(health: ReturnType<typeof healthOf>, service: string, context: HandlerContext = contextOf()) {
  const told: (ServingStatus | undefined)[] = [];
  const collect = async () => {
    const request = { $typeName: "grpc.health.v1.HealthCheckRequest" as const, service };
    for await (const { status } of health.watch(request, context)) told.push(status);
  };
  return { told, ended: collect() };
}

function listOf(options: Partial<HealthOptions>) {
  return healthOf(options).list({ $typeName: "grpc.health.v1.HealthListRequest" }, contextOf());
}

async function statusesOf(options: Partial<HealthOptions>): Promise<readonly unknown[]> {
  const { statuses = {} } = await listOf(options);
  return Object.values(statuses).map(({ status }) => status);
}

function raise(): never {
  throw new Error("away");
}
