import type { Worker } from "node:cluster";
import { cachedMeasurement } from "../../telemetry/metrics/cached-measurement.js";
import { mergePages } from "./merge-pages.js";
import type { PrimaryMessage, WorkerMessage } from "./messages.js";

/** How long a worker may take to return its metrics, in milliseconds. */
const PATIENCE_MS = 2_000;
/** Limits of a merged page: how long it is reused, and how long a request waits for it. */
const PAGE_PACE = { maxAgeMs: 1_000, timeoutMs: PATIENCE_MS + 1_000 };

/** The metrics of all workers of a pool. Of workers that have ended, only counters and histograms are kept. */
export class WorkerMetrics {
  #lastId = 0;
  /** The newest metrics of each worker. */
  readonly #pages = new Map<Worker, string>();
  /** The counters and histograms of the workers that have ended. */
  #ended = "";
  readonly #workers: ReadonlyMap<Worker, number>;

  /** `workers` has the workers that listen: the key is the worker, the value is its number. */
  constructor(workers: ReadonlyMap<Worker, number>) {
    this.#workers = workers;
  }

  /**
   * Returns one page with the metrics of the workers that run and of those that have ended. Of a replaced worker that
   * still drains, the page has the counters and histograms of its last answer. Returns undefined if the page could not
   * be collected. The page is reused for a second. If a worker does not answer in time, the page contains the last
   * metrics that this worker returned.
   */
  readonly page = cachedMeasurement(() => this.#collect(), PAGE_PACE);

  /** Asks each worker for its metrics. */
  async refresh(): Promise<void> {
    await Promise.all(Array.from(this.#workers.keys(), (worker) => this.#ask(worker)));
  }

  /** Keeps the counters and histograms in the last answer of an ended worker. Increases after this answer are lost. */
  ended(worker: Worker): void {
    const page = this.#pages.get(worker);
    if (page === undefined) return;
    this.#pages.delete(worker);
    this.#ended = mergePages([
      { worker: undefined, page: this.#ended },
      { worker: undefined, page },
    ]);
  }

  async #collect(): Promise<string> {
    await this.refresh();
    const pages = Array.from(this.#pages, ([each, page]) => ({ worker: this.#workers.get(each), page }));
    return mergePages([...pages, { worker: undefined, page: this.#ended }]);
  }

  async #ask(worker: Worker): Promise<void> {
    const id = (this.#lastId += 1);
    const page = await new Promise<string | undefined>((resolve) => {
      const end = (answer: string | undefined) => {
        clearTimeout(timer);
        worker.off("message", onMessage);
        worker.off("exit", onExit);
        resolve(answer);
      };
      const timer = setTimeout(end, PATIENCE_MS, undefined);
      const onExit = () => end(undefined);
      const onMessage = (message: WorkerMessage) => {
        if (message.kind === "OWN_METRICS" && message.id === id) end(message.page);
      };
      worker.on("message", onMessage);
      worker.on("exit", onExit);
      worker.send({ kind: "OWN_METRICS", id } satisfies PrimaryMessage, (error) => {
        if (error !== null) onExit();
      });
    });
    if (page !== undefined) this.#pages.set(worker, page);
  }
}
