import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describeProcess } from "../resource.js";
import type { ExporterConfig } from "../telemetry-config.js";
import { createRequestSpans, type RequestSpans } from "./request-spans.js";
import { tracedFetch } from "./traced-fetch.js";

/** Creates the spans of incoming and outgoing requests, and exports them. */
export interface Tracing {
  readonly spans: RequestSpans;
  /**
   * A fetch function that creates a span for each request and sends the trace context with it. Pass the method and the
   * headers in `init`: those of a Request object are not used.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Exports the remaining spans and ends the export. */
  close(): Promise<void>;
}

/**
 * Opens tracing and its exporter. OTEL_TRACES_SAMPLER sets the sampler. By default, the trace context of the caller
 * decides whether a request is sampled. Requests without a trace context are sampled.
 */
export async function openTracing(config: ExporterConfig): Promise<Tracing> {
  const exporter = await openExporter(config);
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ resource: describeProcess(), spanProcessors });
  const tracer = provider.getTracer("cupo");
  const propagator = new W3CTraceContextPropagator();
  return {
    spans: createRequestSpans(tracer, propagator),
    fetch: tracedFetch(globalThis.fetch, tracer, propagator),
    close: () => provider.shutdown(),
  };
}

async function openExporter({ protocol, url }: ExporterConfig) {
  const options = url === undefined ? {} : { url };
  if (protocol === "http/json") {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
    return new OTLPTraceExporter(options);
  }
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter(options);
}
