import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TelemetryConfig } from "../../src/telemetry/telemetry-config.js";

/** A received span. Ids are hexadecimal. A span without a parent is the root of its trace. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  /** OTLP span kind: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Whether the span's status is an error. */
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A receiver of OTLP over HTTP. */
export interface OtlpReceiver {
  /** Settings that send everything to this receiver as JSON. */
  readonly config: TelemetryConfig;
  readonly url: string;
  readonly received: readonly Received[];
  /** Returns the spans received as JSON so far. */
  spans(): readonly ReceivedSpan[];
  /** Returns the names of the metrics received as JSON so far. */
  metricNames(): ReadonlySet<string>;
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type SentSpan = Omit<ReceivedSpan, "attributes" | "isError"> & {
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: number };
};

const ERROR = 2;

/** Starts a receiver on a free port that accepts any request. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const take = async () => {
      received.push({ path: request.url ?? "", headers: request.headers, body: await buffer(request) });
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    };
    void take();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const json = (path: string) =>
    received
      .filter((each) => each.path === path && each.headers["content-type"] === "application/json")
      .map(({ body }) => JSON.parse(body.toString()));
  return {
    url,
    received,
    config: {
      traces: { protocol: "http/json", url: `${url}/v1/traces` },
      metrics: { protocol: "http/json", url: `${url}/v1/metrics`, everyMs: 60_000 },
      warnings: [],
    },
    spans: () => json("/v1/traces").flatMap(spansOf),
    metricNames: () => new Set(json("/v1/metrics").flatMap(metricNamesOf)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function spansOf(sent: { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] }): ReceivedSpan[] {
  const spans = sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.map(({ attributes = [], status, ...span }) =>
    Object.assign(span, {
      isError: status?.code === ERROR,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }),
  );
}

function metricNamesOf(sent: { resourceMetrics: { scopeMetrics: { metrics: { name: string }[] }[] }[] }): string[] {
  return sent.resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  );
}
