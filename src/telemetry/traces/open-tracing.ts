import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describeProcess } from "../resource.js";
import type { ExportTerms } from "../telemetry-terms.js";
import { createRequestSpans, type RequestSpans } from "./request-spans.js";
import { tracedFetch } from "./traced-fetch.js";

/** Traces that are made and sent. */
export interface Tracing {
  readonly spans: RequestSpans;
  /** Takes traces to whom the service asks for something. */
  readonly fetch: typeof globalThis.fetch;
  /** Sends what was not sent yet. */
  close(): Promise<void>;
}

/** Opens what traces are made and sent with. The sampler is that of OTEL_TRACES_SAMPLER; without it callers decide. */
export async function openTracing(terms: ExportTerms): Promise<Tracing> {
  const exporter = await openExporter(terms);
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

async function openExporter({ protocol, url }: ExportTerms) {
  const options = url === undefined ? {} : { url };
  if (protocol === "http/json") {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
    return new OTLPTraceExporter(options);
  }
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter(options);
}
