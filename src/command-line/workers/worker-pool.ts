import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { PrimaryMessage, WorkerMessage, WorkerStart } from "./messages.js";
import { WorkerMetrics } from "./worker-metrics.js";

/** Worker processes that share the listeners of the service. */
export interface WorkerPool {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /**
   * Replaces each worker, one after the other. A new worker listens before the old one stops. If a new worker does not
   * start, rejects and keeps the workers that are not yet replaced.
   */
  restart(): Promise<void>;
  /**
   * Stops all workers gracefully. If `drainMs` is above 0, each worker first drains, for as long as its own settings
   * say. `drainMs` defaults to 0.
   */
  close(drainMs?: number): Promise<void>;
}

type Urls = Pick<WorkerPool, "publicUrl" | "internalUrl">;

/** The state of a pool. */
interface Pool {
  readonly start: WorkerStart;
  readonly logger: Logger;
  /**
   * The workers that listen, with their numbers from 1. A replacement keeps the number of the worker that it replaces.
   */
  readonly listening: Map<Worker, number>;
  /** The starts in progress, by the number of the worker. */
  readonly starting: Map<number, Promise<Urls>>;
  readonly metrics: WorkerMetrics;
  isClosing: boolean;
}

const PROGRAM = fileURLToPath(new URL("../../main.js", import.meta.url));
/** Milliseconds before a worker that ended by itself is replaced. */
const REPLACE_AFTER_MS = 1_000;

/**
 * Starts workers and resolves when all of them listen. The first one starts alone, because it migrates the database. A
 * worker that ends later is replaced. If a worker does not start, the function stops all others and rejects.
 */
export async function openWorkerPool(start: WorkerStart, logger: Logger): Promise<WorkerPool> {
  cluster.setupPrimary({ exec: PROGRAM, args: process.argv.slice(2) });
  const listening = new Map<Worker, number>();
  const metrics = new WorkerMetrics(listening);
  const pool: Pool = { start, logger, listening, starting: new Map(), metrics, isClosing: false };
  try {
    const urls = await startWorker(pool, 1);
    await Promise.all(Array.from({ length: start.workers - 1 }, (_, i) => startWorker(pool, i + 2)));
    return { ...urls, restart: () => restart(pool), close: (drainMs = 0) => close(pool, drainMs) };
  } catch (error) {
    await close(pool, 0);
    throw error;
  }
}

/** Starts a worker with this number and resolves when it listens. If such a worker is starting, waits for that one. */
function startWorker(pool: Pool, number: number): Promise<Urls> {
  const started =
    pool.starting.get(number) ?? forkWorker(pool, number).finally(() => void pool.starting.delete(number));
  pool.starting.set(number, started);
  return started;
}

function forkWorker(pool: Pool, number: number): Promise<Urls> {
  const worker = cluster.fork();
  return new Promise((resolve, reject) => {
    worker.on("message", (message: WorkerMessage) => {
      if (message.kind === "STARTED") send(worker, { kind: "START", start: pool.start });
      if (message.kind === "ALL_METRICS") void answerMetrics(pool, worker);
      if (message.kind !== "LISTENING") return;
      pool.listening.set(worker, number);
      resolve(message);
    });
    worker.once("exit", (code, signal) => {
      reject(new Error("a worker ended before it listened; its log lines say why"));
      pool.metrics.ended(worker);
      if (!pool.listening.delete(worker) || pool.isClosing) return;
      pool.logger.error({ worker: number, code, signal }, "a worker ended; starting another one");
      void replace(pool, number);
    });
  });
}

/**
 * Starts a worker with this number after 1 s. If the worker does not start, tries again after another second. Ends when
 * a worker with this number listens, for example one that a restart started, or when the pool closes.
 */
async function replace(pool: Pool, number: number): Promise<void> {
  for (;;) {
    await delay(REPLACE_AFTER_MS);
    if (pool.isClosing || Array.from(pool.listening.values()).includes(number)) return;
    try {
      await startWorker(pool, number);
      return;
    } catch {
      pool.logger.error({ worker: number }, "a worker did not start; trying again");
    }
  }
}

async function restart(pool: Pool): Promise<void> {
  pool.logger.info({ workers: pool.listening.size }, "restarting the workers");
  for (const [old, number] of Array.from(pool.listening)) {
    if (pool.isClosing) return;
    if (!pool.listening.has(old)) continue;
    await startWorker(pool, number);
    await pool.metrics.refresh();
    if (!pool.listening.delete(old)) continue;
    const exited = once(old, "exit");
    send(old, { kind: "REPLACED" });
    await exited;
  }
  pool.logger.info("restarted the workers");
}

/**
 * Stops all workers and waits for their end. If `drainMs` is not 0, sends SIGTERM, and each worker drains first.
 * Otherwise sends SIGINT, and no worker drains.
 */
async function close(pool: Pool, drainMs: number): Promise<void> {
  pool.isClosing = true;
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const exits = workers.map((worker) => once(worker, "exit"));
  for (const { process: child } of workers) child.kill(drainMs > 0 ? "SIGTERM" : "SIGINT");
  await Promise.all(exits);
}

async function answerMetrics(pool: Pool, asking: Worker): Promise<void> {
  send(asking, { kind: "ALL_METRICS", page: await pool.metrics.page() });
}

/** Sends a message, unless the worker has ended. Without a callback, Node would emit an error that ends this process. */
function send(worker: Worker, message: PrimaryMessage): void {
  worker.send(message, () => undefined);
}
