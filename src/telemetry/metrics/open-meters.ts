import type { Meter } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  type IMetricReader,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { TelemetryTerms } from "../telemetry-terms.js";
import { prometheusText } from "./prometheus-text.js";

/** What instruments are made with, and read by. */
export interface Meters {
  readonly meter: Meter;
  /** All metrics as Prometheus reads them, text format 0.0.4. */
  page(): Promise<string>;
  /** Sends what was not sent yet, for a while, where metrics are sent. */
  close(): Promise<void>;
}

/** More than there are operations, transports and statuses: beyond, all that is new would be counted together. */
const MAX_SERIES = 20_000;
const COLLECTION_MS = 5_000;

/** Opens what metrics are kept in, for who asks for the page and for whom they are sent to. */
export async function openMeters(terms: TelemetryTerms["metrics"], resource: Resource): Promise<Meters> {
  const pages = new PageReader({ cardinalitySelector: () => MAX_SERIES });
  const readers: IMetricReader[] = terms === undefined ? [pages] : [pages, await openSender(terms)];
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

/** Is read by who asks, and sends nothing. */
class PageReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function openSender({ protocol, url, everyMs }: NonNullable<TelemetryTerms["metrics"]>) {
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
