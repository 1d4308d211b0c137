import type { Meter } from "@opentelemetry/api";
import type { ListenerName, RequestFacts } from "../request-facts.js";

/** Counts requests and how long they take. */
export interface RequestMetrics {
  began(listener: ListenerName): void;
  /** Its answer took so many seconds. */
  ended(listener: ListenerName, facts: RequestFacts, seconds: number): void;
}

/** Seconds. Most calls take a few milliseconds, of which the boundaries of the semantic conventions would tell nothing. */
const LATENCIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LIVES = [1, 10, 60, 300, 1_800, 3_600, 21_600, 86_400];

/** Makes the instruments of requests. */
export function createRequestMetrics(meter: Meter): RequestMetrics {
  const duration = (name: string, description: string, boundaries: number[]) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: boundaries } });
  const histograms = {
    http: duration("http.server.request.duration", "Requests over REST, and all that are no operation.", LATENCIES),
    rpc: duration("rpc.server.call.duration", "Calls over Connect, gRPC and gRPC-Web that are no streams.", LATENCIES),
    stream: duration("cupo.stream.duration", "How long streams were open, told when they end.", LIVES),
  };
  const replays = meter.createCounter("cupo.idempotency.replays", {
    description: "Answers that an earlier call with the same idempotency key got.",
    unit: "{answer}",
  });
  const active: Record<ListenerName, number> = { public: 0, internal: 0 };
  meter
    .createObservableUpDownCounter("http.server.active_requests", {
      description: "Requests under way, open streams among them.",
      unit: "{request}",
    })
    .addCallback((result) => {
      for (const [listener, count] of Object.entries(active)) result.observe(count, { "cupo.listener": listener });
    });
  return {
    began(listener) {
      active[listener] += 1;
    },
    ended(listener, { kind, attributes, operation, isReplay }, seconds) {
      active[listener] -= 1;
      histograms[kind].record(seconds, attributes);
      if (isReplay && operation !== undefined) replays.add(1, { "cupo.operation": operation });
    },
  };
}
