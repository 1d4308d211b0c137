import type { LiveMetrics } from "./live-metrics.js";

/** Metrics that accept measurements before their instruments exist. */
export interface DeferredMetrics {
  /**
   * Records a measurement now, or when the instruments exist. Drops it if {@link MAX_KEPT} measurements already wait.
   */
  tell(record: (metrics: LiveMetrics) => void): void;
  /** Creates the instruments once. After a failure the next call tries again. */
  load(): Promise<LiveMetrics>;
  /** Closes the instruments if `load` was called. Waits first until they exist. */
  close(): Promise<void>;
}

/**
 * The maximum number of measurements kept until the instruments exist. Further ones are dropped. A process makes fewer
 * measurements than this while it starts.
 */
const MAX_KEPT = 50_000;

/**
 * Returns metrics that keep at most {@link MAX_KEPT} measurements until `load` has created the instruments with `open`.
 * So the instruments do not slow down the start of the service.
 */
export function deferMetrics(open: () => Promise<LiveMetrics>): DeferredMetrics {
  let live: LiveMetrics | undefined;
  let loading: Promise<LiveMetrics> | undefined;
  let kept: ((metrics: LiveMetrics) => void)[] = [];
  const load = async () => {
    const metrics = await open();
    for (const record of kept) record(metrics);
    kept = [];
    live = metrics;
    return metrics;
  };
  return {
    tell(record) {
      if (live !== undefined) record(live);
      else if (kept.length < MAX_KEPT) kept.push(record);
    },
    load() {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}
