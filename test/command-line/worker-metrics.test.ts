import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { PrimaryMessage, WorkerMessage } from "../../src/command-line/workers/messages.js";
import { WorkerMetrics } from "../../src/command-line/workers/worker-metrics.js";
import { joinPrimary } from "../../src/command-line/workers/worker-process.js";

/** A worker that counts how often it is asked for its metrics, and returns this count as a metric. */
class CountingWorker extends EventEmitter {
  asked = 0;

  send(message: PrimaryMessage, callback?: (error: Error | null) => void): void {
    setImmediate(() => callback?.(null));
    if (message.kind !== "OWN_METRICS") return;
    const page = `# TYPE asked_total counter\nasked_total ${(this.asked += 1)}\n`;
    setImmediate(() => this.emit("message", { kind: "OWN_METRICS", id: message.id, page }));
  }
}

/** A worker that has just been killed. As Node does, it emits an error if a message without a callback is not sent. */
class KilledWorker extends CountingWorker {
  override send(_: PrimaryMessage, callback?: (error: Error | null) => void): void {
    const error = new Error("write EPIPE");
    if (callback === undefined) this.emit("error", error);
    else setImmediate(callback, error);
  }
}

/** The channel of a worker to a primary process that answers with how often it was asked for all metrics. */
class CountingPrimary extends EventEmitter {
  asked = 0;

  send({ kind }: WorkerMessage): void {
    const start = { kind: "START", start: {} };
    const answer = kind === "STARTED" ? start : { kind: "ALL_METRICS", page: `asked ${(this.asked += 1)}` };
    setImmediate(() => this.emit("message", answer));
  }
}

test("64 concurrent scrapes, and later ones within a second, share one collection from all workers", async () => {
  const workers = [new CountingWorker(), new CountingWorker()];
  const metrics = metricsOf(workers);
  const pages = await Promise.all(Array.from({ length: 64 }, () => metrics.page()));
  expect(new Set([...pages, await metrics.page()])).toEqual(new Set(["# TYPE asked_total counter\nasked_total 2\n"]));
  expect(workers.map(({ asked }) => asked)).toEqual([1, 1]);
});

test("64 concurrent scrapes of one worker ask the primary process once, later ones again", async () => {
  const primary = new CountingPrimary();
  const { allMetrics } = await joinPrimary(primary);
  const scrape = async () => String(await allMetrics(async () => undefined));
  const pages = await Promise.all(Array.from({ length: 64 }, scrape));
  expect([...new Set(pages), await scrape()]).toEqual(["asked 1", "asked 2"]);
  expect(primary.asked).toBe(2);
});

test("the metrics before the end of a worker are not taken from the cache", async () => {
  const worker = new CountingWorker();
  const metrics = metricsOf([worker]);
  await metrics.page();
  await metrics.refresh();
  expect(worker.asked).toBe(2);
});

test("counters do not fall while a replaced worker drains", async () => {
  const workers = [new CountingWorker(), new CountingWorker()];
  const listening = numbered(workers);
  const metrics = new WorkerMetrics(listening);
  await metrics.refresh();
  for (const [replaced, number] of listening) if (number === 1) listening.delete(replaced);
  expect(await metrics.page()).toBe("# TYPE asked_total counter\nasked_total 3\n");
});

test("a scrape ignores a worker that has just been killed", async () => {
  const metrics = metricsOf([new KilledWorker(), new CountingWorker()]);
  expect(await metrics.page()).toBe("# TYPE asked_total counter\nasked_total 1\n");
});

function metricsOf(workers: readonly CountingWorker[]): WorkerMetrics {
  return new WorkerMetrics(numbered(workers));
}

function numbered(workers: readonly CountingWorker[]): Map<Worker, number> {
  return new Map(workers.map((worker, i) => [worker as unknown as Worker, i + 1]));
}
