import {
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { endSpan } from "./call-spans.js";

/**
 * Wraps `fetch`: creates a span for each request and sends the trace context (W3C Trace Context). Each span begins a
 * new trace. It contains host and port of the URL, not its path.
 *
 * Pass a URL and `init`, not a Request: the wrapper drops the headers of a Request, and the method in the span is
 * always that of `init`.
 */
export function tracedFetch(fetch: typeof globalThis.fetch, tracer: Tracer, propagator: TextMapPropagator) {
  return async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const method = init?.method ?? "GET";
    const attributes = {
      "http.request.method": method,
      "server.address": url.hostname,
      "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
    };
    const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT);
    const carried: Record<string, string> = {};
    propagator.inject(trace.setSpan(ROOT_CONTEXT, span), carried, defaultTextMapSetter);
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(carried)) headers.set(name, value);
    try {
      const response = await fetch(input, { ...init, headers });
      span.setAttribute("http.response.status_code", response.status);
      endSpan(span);
      return response;
    } catch (error) {
      endSpan(span, error);
      throw error;
    }
  };
}
