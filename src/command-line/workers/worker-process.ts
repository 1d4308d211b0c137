import { once } from "node:events";
import type { PrimaryMessage, WorkerMessage, WorkerStart } from "./messages.js";

/** The connection of a worker to the primary process. */
export interface PrimaryLink {
  readonly start: WorkerStart;
  /**
   * Returns the metrics of all workers. If the primary process does not answer within `patienceMs` milliseconds,
   * returns the result of `own`: the metrics of this worker.
   */
  allMetrics(own: () => Promise<Buffer | undefined>, patienceMs: number): Promise<Buffer | undefined>;
  /**
   * Reports to the primary process that the listeners are open, and starts to handle the messages of the primary
   * process.
   */
  listening(
    urls: { readonly publicUrl: string; readonly internalUrl: string },
    ports: { readonly ownMetrics: () => Promise<Buffer | undefined>; readonly replaced: () => void },
  ): void;
}

/**
 * Reports to the primary process that this worker runs, and waits for START. Returns the connection to the primary
 * process, with the start data. Throws if another message arrives first.
 */
export async function joinPrimary(): Promise<PrimaryLink> {
  const answer = once(process, "message");
  send({ kind: "STARTED" });
  const [first] = (await answer) as [PrimaryMessage];
  if (first.kind !== "START") throw new Error("the primary process did not start this worker");
  const waiting = new Map<number, (page: string) => void>();
  let lastId = 0;
  return {
    start: first.start,
    async allMetrics(own, patienceMs) {
      const id = (lastId += 1);
      const page = await new Promise<string | undefined>((resolve) => {
        const timer = setTimeout(resolve, patienceMs, undefined);
        waiting.set(id, (answered) => {
          clearTimeout(timer);
          resolve(answered);
        });
        send({ kind: "ALL_METRICS", id });
      });
      waiting.delete(id);
      return page === undefined ? own() : Buffer.from(page);
    },
    listening(urls, { ownMetrics, replaced }) {
      process.on("message", (message: PrimaryMessage) => {
        if (message.kind === "ALL_METRICS") waiting.get(message.id)?.(message.page);
        if (message.kind === "OWN_METRICS") void answerMetrics(message.id, ownMetrics);
        if (message.kind === "REPLACED") replaced();
      });
      send({ kind: "LISTENING", ...urls });
    },
  };
}

async function answerMetrics(id: number, ownMetrics: () => Promise<Buffer | undefined>): Promise<void> {
  const page = await ownMetrics().catch(() => undefined);
  send({ kind: "OWN_METRICS", id, page: page?.toString("utf8") });
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
