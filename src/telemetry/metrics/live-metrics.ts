import { describeProcess } from "../resource.js";
import type { TelemetryTerms } from "../telemetry-terms.js";
import { openMeters } from "./open-meters.js";
import { createPoolMetrics, type PoolMetrics } from "./pool-metrics.js";
import { measureProcess } from "./process-metrics.js";
import { createRequestMetrics, type RequestMetrics } from "./request-metrics.js";
import { createServiceMetrics, type ServiceMetrics } from "./service-metrics.js";

/** All instruments, and how they are read. */
export interface LiveMetrics {
  readonly requests: RequestMetrics;
  readonly pools: PoolMetrics;
  readonly service: ServiceMetrics;
  /** All metrics as Prometheus reads them. */
  page(): Promise<string>;
  /** Sends what was not sent yet, where metrics are sent. */
  close(): Promise<void>;
}

/** Makes all instruments. */
export async function openLiveMetrics(terms: TelemetryTerms["metrics"]): Promise<LiveMetrics> {
  const { meter, page, close } = await openMeters(terms, describeProcess());
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
