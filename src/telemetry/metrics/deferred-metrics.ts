import type { LiveMetrics } from "./live-metrics.js";

/** Metrics whose instruments are there a little later than what they count. */
export interface DeferredMetrics {
  /** Has something counted: now, or as soon as there are instruments. */
  tell(record: (metrics: LiveMetrics) => void): void;
  /** Makes the instruments, unless they are there or being made. Where that failed, the next call tries again. */
  load(): Promise<LiveMetrics>;
  /** Ends them, where they were made. */
  close(): Promise<void>;
}

/** What a process that nobody has asked yet does in the moment until its instruments are there. */
const MAX_KEPT = 50_000;

/**
 * Puts off what it takes to load and make instruments, and keeps what there is to be counted meanwhile: a service that starts
 * has something else to do.
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
