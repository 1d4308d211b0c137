import type { Meter } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  type IMetricReader,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { TelemetryConfig } from "../telemetry-config.js";
import { prometheusText } from "./prometheus-text.js";

/** A meter for creating instruments, and the output of the metrics of all instruments. */
export interface Meters {
  readonly meter: Meter;
  /** Returns all metrics in Prometheus' text format 0.0.4. */
  page(): Promise<string>;
  /** Closes the metrics. If they are exported, first sends the values that were not sent yet, for at most 30 s. */
  close(): Promise<void>;
}

/**
 * The largest number of series of a metric. It is larger than the number of combinations of operation, transport and
 * status. Above this limit, new series would be counted together.
 */
const MAX_SERIES = 20_000;
const COLLECTION_MS = 5_000;

/** Opens the metrics for the Prometheus page and, if `config` is given, for the exporter. */
export async function openMeters(config: TelemetryConfig["metrics"], resource: Resource): Promise<Meters> {
  const pages = new PageReader({ cardinalitySelector: () => MAX_SERIES });
  const readers: IMetricReader[] = config === undefined ? [pages] : [pages, await openSender(config)];
  const provider = new MeterProvider({ resource, readers });
  return {
    meter: provider.getMeter("cupo"),
    async page() {
      const { resourceMetrics } = await pages.collect({ timeoutMillis: COLLECTION_MS });
      return prometheusText(resourceMetrics);
    },
    close: () => provider.shutdown(),
  };
}

/** A reader that collects on request and sends nothing. */
class PageReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function openSender({ protocol, url, everyMs }: NonNullable<TelemetryConfig["metrics"]>) {
  const options = url === undefined ? {} : { url };
  const exportTimeoutMillis = Math.min(everyMs, 30_000);
  const every = { exportIntervalMillis: everyMs, exportTimeoutMillis, cardinalitySelector: () => MAX_SERIES };
  if (protocol === "http/json") {
    const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-http");
    return new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(options), ...every });
  }
  const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-proto");
  return new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(options), ...every });
}
