import type { Attributes, Meter } from "@opentelemetry/api";
import type { ListenerName, RequestFacts } from "../request-facts.js";

/** Counts requests and measures their duration. */
export interface RequestMetrics {
  began(listener: ListenerName): void;
  /** Records the end of a request and its duration in seconds. */
  ended(listener: ListenerName, facts: RequestFacts, seconds: number): void;
}

/**
 * Histogram boundaries in seconds. They are few, because each boundary adds a line per operation to the Prometheus
 * page. Most calls take a few milliseconds.
 */
const LATENCIES = [0.005, 0.05, 0.3, 1, 2.5];
const LIVES = [1, 10, 60, 300, 1_800, 3_600, 21_600, 86_400];

/** Creates the request instruments. */
export function createRequestMetrics(meter: Meter): RequestMetrics {
  const duration = (name: string, description: string, boundaries: number[]) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: boundaries } });
  const histograms = {
    http: duration("http.server.request.duration", "Duration of requests over REST and to pages.", LATENCIES),
    rpc: duration("rpc.server.call.duration", "Duration of calls over Connect, gRPC and gRPC-Web.", LATENCIES),
    stream: duration("cupo.stream.duration", "How long streams were open, recorded when they end.", LIVES),
  };
  const counters = {
    http: meter.createCounter("http.server.requests", {
      description: "Requests over REST and to pages, by status.",
      unit: "{request}",
    }),
    rpc: meter.createCounter("rpc.server.calls", {
      description: "Unary calls over Connect, gRPC and gRPC-Web, by code.",
      unit: "{call}",
    }),
  };
  const replays = meter.createCounter("cupo.idempotency.replays", {
    description: "Responses that repeat the response to an earlier call with the same idempotency key.",
    unit: "{answer}",
  });
  const active = countActive(meter);
  return {
    began(listener) {
      active[listener] += 1;
    },
    ended(listener, { kind, attributes, operation, isReplay }, seconds) {
      active[listener] -= 1;
      const ofOperation = operation === undefined ? {} : { "cupo.operation": operation };
      histograms[kind].record(seconds, kind === "stream" ? attributes : ofOperation);
      if (kind !== "stream") counters[kind].add(1, leanOf(attributes));
      if (isReplay) replays.add(1, ofOperation);
    },
  };
}

/** Removes redundant labels: the RPC method equals the operation, and the transport implies the RPC system. */
function leanOf(attributes: Attributes): Attributes {
  const { "rpc.method": _method, "rpc.system.name": _system, ...lean } = attributes;
  return lean;
}

/**
 * Creates the instrument of the active requests. Returns the numbers that the instrument reports; the caller updates
 * them.
 */
function countActive(meter: Meter): Record<ListenerName, number> {
  const active: Record<ListenerName, number> = { public: 0, internal: 0 };
  meter
    .createObservableUpDownCounter("http.server.active_requests", {
      description: "Active requests, including open streams.",
      unit: "{request}",
    })
    .addCallback((result) => {
      for (const [listener, count] of Object.entries(active)) result.observe(count, { "cupo.listener": listener });
    });
  return active;
}
