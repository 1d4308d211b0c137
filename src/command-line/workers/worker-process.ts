import { type EventEmitter, once } from "node:events";
import { cachedMeasurement } from "../../telemetry/metrics/cached-measurement.js";
import type { PrimaryMessage, WorkerMessage, WorkerStart } from "./messages.js";

/** The channel over which a worker and the primary process exchange messages. */
interface Channel extends EventEmitter {
  send?(message: WorkerMessage): unknown;
}

/** The connection of a worker to the primary process. */
export interface PrimaryLink {
  readonly start: WorkerStart;
  /**
   * Returns the metrics of all workers. Simultaneous calls share one request to the primary process. If it does
   * not answer within {@link PATIENCE_MS}, or could not collect the metrics, returns the result of `own`: the metrics
   * of this worker.
   */
  allMetrics(own: () => Promise<Buffer | undefined>): Promise<Buffer | undefined>;
  /**
   * Reports to the primary process that the listeners are open, and starts to handle the messages of the primary
   * process.
   */
  listening(
    urls: { readonly publicUrl: string; readonly internalUrl: string },
    ports: { readonly ownMetrics: () => Promise<Buffer | undefined>; readonly replaced: () => void },
  ): void;
}

/** How long the primary process may take to return the metrics of all workers, in milliseconds. */
const PATIENCE_MS = 4_000;

/**
 * Reports to the primary process that this worker runs, and waits for START. Returns the connection to the primary
 * process, with the start data. Throws if another message arrives first. `channel` defaults to `process`.
 */
export async function joinPrimary(channel: Channel = process): Promise<PrimaryLink> {
  const answer = once(channel, "message");
  channel.send?.({ kind: "STARTED" });
  const [first] = (await answer) as [PrimaryMessage];
  if (first.kind !== "START") throw new Error("the primary process did not start this worker");
  const allMetrics = cachedMeasurement(() => askForMetrics(channel), { maxAgeMs: 0, timeoutMs: PATIENCE_MS });
  return {
    start: first.start,
    allMetrics: async (own) => (await allMetrics()) ?? own(),
    listening(urls, { ownMetrics, replaced }) {
      channel.on("message", (message: PrimaryMessage) => {
        if (message.kind === "OWN_METRICS") void answerMetrics(channel, message.id, ownMetrics);
        if (message.kind === "REPLACED") replaced();
      });
      channel.send?.({ kind: "LISTENING", ...urls });
    },
  };
}

/** Asks the primary process for the metrics of all workers. */
function askForMetrics(channel: Channel): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const onMessage = (message: PrimaryMessage) => {
      if (message.kind !== "ALL_METRICS") return;
      channel.off("message", onMessage);
      resolve(message.page === undefined ? undefined : Buffer.from(message.page));
    };
    channel.on("message", onMessage);
    channel.send?.({ kind: "ALL_METRICS" });
  });
}

async function answerMetrics(channel: Channel, id: number, ownMetrics: () => Promise<Buffer | undefined>) {
  const page = await ownMetrics().catch(() => undefined);
  channel.send?.({ kind: "OWN_METRICS", id, page: page?.toString("utf8") });
}
