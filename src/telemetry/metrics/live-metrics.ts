import { describeProcess } from "../resource.js";
import type { TelemetryConfig } from "../telemetry-config.js";
import { openMeters } from "./open-meters.js";
import { createPoolMetrics, type PoolMetrics } from "./pool-metrics.js";
import { measureProcess } from "./process-metrics.js";
import { createRequestMetrics, type RequestMetrics } from "./request-metrics.js";
import { createServiceMetrics, type ServiceMetrics } from "./service-metrics.js";

/** All instruments and their output. */
export interface LiveMetrics {
  readonly requests: RequestMetrics;
  readonly pools: PoolMetrics;
  readonly service: ServiceMetrics;
  /** Returns all metrics in Prometheus' text format. */
  page(): Promise<string>;
  /** Stops measuring the process. If the metrics are exported, also sends the values that were not sent yet. */
  close(): Promise<void>;
}

/** Creates all instruments and starts to measure the process. The metrics are exported if `config` is given. */
export async function openLiveMetrics(config: TelemetryConfig["metrics"]): Promise<LiveMetrics> {
  const { meter, page, close } = await openMeters(config, describeProcess());
  const stopMeasuring = measureProcess(meter);
  return {
    requests: createRequestMetrics(meter),
    pools: createPoolMetrics(meter),
    service: createServiceMetrics(meter),
    page,
    async close() {
      stopMeasuring();
      await close();
    },
  };
}
