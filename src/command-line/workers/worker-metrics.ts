import type { Worker } from "node:cluster";
import { mergePages } from "./merge-pages.js";
import type { PrimaryMessage, WorkerMessage } from "./messages.js";

/** How long a worker may take to return its metrics, in milliseconds. */
const PATIENCE_MS = 2_000;

/** The metrics of all workers of a pool. Of workers that have ended, only counters and histograms are kept. */
export class WorkerMetrics {
  #lastId = 0;
  /** The newest metrics of each worker. */
  readonly #pages = new Map<Worker, string>();
  /** The counters and histograms of the workers that have ended. */
  #ended = "";

  /**
   * Returns one page with the metrics of `workers` and of the workers that have ended. `workers` maps each worker to
   * its number. If a worker does not answer in time, the page contains the last metrics that this worker returned.
   */
  async collect(workers: ReadonlyMap<Worker, number>): Promise<string> {
    await Promise.all(Array.from(workers.keys(), (worker) => this.#ask(worker)));
    const pages = Array.from(workers, ([each, worker]) => ({ worker, page: this.#pages.get(each) ?? "" }));
    return mergePages([...pages, { worker: undefined, page: this.#ended }]);
  }

  /** Keeps the counters and histograms that an ended worker returned last. Increases after that are lost. */
  ended(worker: Worker): void {
    const page = this.#pages.get(worker);
    if (page === undefined) return;
    this.#pages.delete(worker);
    this.#ended = mergePages([
      { worker: undefined, page: this.#ended },
      { worker: undefined, page },
    ]);
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
      worker.send({ kind: "OWN_METRICS", id } satisfies PrimaryMessage);
    });
    if (page !== undefined) this.#pages.set(worker, page);
  }
}
