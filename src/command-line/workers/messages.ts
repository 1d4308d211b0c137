import type { DatabaseUrls } from "../../database-startup.js";

/** The data that a worker gets from the primary process before it serves. The settings are not part of this data. */
export interface WorkerStart extends DatabaseUrls {
  /** The secret with which the API reference pages (`/docs`) get demo tokens; undefined if they get none. */
  readonly pageKey: string | undefined;
  readonly workers: number;
}

/** Messages of a worker to the primary process. */
export type WorkerMessage =
  /** The worker runs and waits for START. */
  | { readonly kind: "STARTED" }
  | { readonly kind: "LISTENING"; readonly publicUrl: string; readonly internalUrl: string }
  /** Asks for the metrics of all workers. A worker asks again only after the answer. */
  | { readonly kind: "ALL_METRICS" }
  /** Answers OWN_METRICS with the same `id`. `page` is undefined if the metrics could not be collected. */
  | { readonly kind: "OWN_METRICS"; readonly id: number; readonly page: string | undefined };

/** Messages of the primary process to a worker. */
export type PrimaryMessage =
  | { readonly kind: "START"; readonly start: WorkerStart }
  /** Asks for the worker's own metrics. */
  | { readonly kind: "OWN_METRICS"; readonly id: number }
  /** Answers ALL_METRICS. `page` is undefined if the metrics could not be collected. */
  | { readonly kind: "ALL_METRICS"; readonly page: string | undefined }
  /** Another worker has replaced this one. This worker then stops gracefully. */
  | { readonly kind: "REPLACED" };
