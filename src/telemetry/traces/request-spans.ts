import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Call } from "../../call.js";
import type { HttpRequest } from "../../request-log.js";
import type { RequestFacts } from "../request-facts.js";
import { createCallTrace } from "./call-spans.js";

/** Gives requests their spans. */
export interface RequestSpans {
  began(request: HttpRequest, call: Call): void;
  ended(facts: RequestFacts, call: Call): void;
}

/** What asks all the time whether there is something to see, which nobody wants to see itself. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/readyz", "/metrics"]);

/**
 * Begins a span for each request, within the trace that its caller is in (W3C Trace Context: `traceparent` and `tracestate`),
 * and gives the call its trace. The address of the request is not told, because it has ids, nor that of the caller.
 */
export function createRequestSpans(tracer: Tracer, propagator: TextMapPropagator): RequestSpans {
  const spans = new WeakMap<Call, Span>();
  const callers = (request: HttpRequest): Context =>
    propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
  return {
    began(request, call) {
      if (PROBES.has(request.url ?? "")) return;
      const context = callers(request);
      const span = tracer.startSpan("HTTP", { kind: SpanKind.SERVER }, context);
      spans.set(call, span);
      call.trace = createCallTrace(tracer, span, trace.setSpan(context, span));
    },
    ended({ name, attributes, errorType }, call) {
      const span = spans.get(call);
      if (span === undefined) return;
      span.updateName(name);
      span.setAttributes({ ...attributes, "cupo.correlation_id": call.correlationId });
      if (errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}
