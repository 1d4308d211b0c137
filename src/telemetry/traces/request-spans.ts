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

/** `began` creates the span of a request. `ended` sets the name and the attributes of the span, and ends it. */
export interface RequestSpans {
  began(request: HttpRequest, call: Call): void;
  ended(facts: RequestFacts, call: Call): void;
}

/** Paths of regular probes. They are not traced. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/readyz", "/metrics"]);

/**
 * Returns functions that create and end a span for each request, except for {@link PROBES}. If the request has a trace
 * context (W3C Trace Context: `traceparent` and `tracestate`), the span belongs to that trace. `began` also sets the
 * trace of the call. The span omits the caller's address. It also omits the URL, because URLs contain ids.
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
