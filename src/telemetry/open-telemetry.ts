import type { DescService } from "@bufbuild/protobuf";
import type { RequestObserver } from "../request-log.js";
import { cachedMeasurement } from "./metrics/cached-measurement.js";
import { deferMetrics } from "./metrics/deferred-metrics.js";
import type { PoolMetrics } from "./metrics/pool-metrics.js";
import type { ServiceMetrics } from "./metrics/service-metrics.js";
import { catalogOf } from "./operation-catalog.js";
import { factsOf, type ListenerName } from "./request-facts.js";
import type { TelemetryConfig } from "./telemetry-config.js";

/** The telemetry of a process: metrics always, traces if an exporter is configured. */
export interface Telemetry {
  readonly pools: PoolMetrics;
  readonly service: ServiceMetrics;
  readonly isTraced: boolean;
  /** The fetch function for outgoing requests of the service. Traces each request if calls are traced. */
  readonly fetch: typeof globalThis.fetch;
  /** Returns an observer of a listener's requests. */
  requestsOf(listener: ListenerName): RequestObserver;
  /**
   * Returns all metrics in Prometheus' text format, at most a second old by default; undefined if they could not be
   * collected.
   */
  metricsPage(): Promise<Buffer | undefined>;
  /** Called when the service has started. Loads the metrics library soon after, unless it is already loaded. */
  started(): void;
  /** Sends the remaining data, for at most a second. Never rejects. */
  close(): Promise<void>;
}

/** Options of telemetry. */
export interface TelemetryOptions {
  /** The exported signals; none if undefined. */
  readonly config: TelemetryConfig | undefined;
  readonly services: readonly DescService[];
  readonly basePath: string;
  /** Called when an export fails, at most once a minute, and when the metrics library cannot be loaded. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds for which a metrics page is reused; default 1000. */
  readonly pageMaxAgeMs?: number | undefined;
}

const NOTHING: TelemetryConfig = { warnings: [] };
const LOAD_AFTER_MS = 250;
const CLOSE_MS = 1_000;
/** How many milliseconds a metrics page is reused by default. */
const PAGE_MAX_AGE_MS = 1_000;
const PAGE_PATIENCE_MS = 5_000;

/**
 * Opens metrics and, if configured, traces. Only this function loads OpenTelemetry's SDK. It loads the libraries of
 * exported signals before it returns. If metrics are not exported, the metrics library is loaded later: soon after the
 * call of `started`, or by the first call of `metricsPage`.
 */
export async function openTelemetry({ config = NOTHING, ...options }: TelemetryOptions): Promise<Telemetry> {
  const metrics = deferMetrics(() => loadMetrics(config.metrics));
  if (config.metrics !== undefined) await metrics.load();
  const sending = await openSending(config, options.onError);
  const catalog = catalogOf(options.services, options.basePath);
  const pagePace = { maxAgeMs: options.pageMaxAgeMs ?? PAGE_MAX_AGE_MS, timeoutMs: PAGE_PATIENCE_MS };
  const { spans, fetch = globalThis.fetch } = sending ?? {};
  let timer: NodeJS.Timeout | undefined;
  return {
    ...countedBy(metrics.tell),
    isTraced: spans !== undefined,
    fetch,
    requestsOf: (listener) => ({
      began(request, call) {
        metrics.tell(({ requests }) => requests.began(listener));
        spans?.began(request, call);
      },
      ended(request, response, call) {
        const seconds = (performance.now() - call.startedAt) / 1000;
        const facts = factsOf(request, response, call, listener, catalog);
        metrics.tell(({ requests }) => requests.ended(listener, facts, seconds));
        spans?.ended(facts, call);
      },
    }),
    metricsPage: cachedMeasurement(async () => Buffer.from(await (await metrics.load()).page()), pagePace),
    started() {
      timer ??= setTimeout(() => void metrics.load().catch(options.onError), LOAD_AFTER_MS).unref();
    },
    async close() {
      clearTimeout(timer);
      await soon(Promise.all([sending?.close(), metrics.close()]));
    },
  };
}

function countedBy(tell: ReturnType<typeof deferMetrics>["tell"]): Pick<Telemetry, "pools" | "service"> {
  return {
    pools: {
      watch: (name, pool) => tell(({ pools }) => pools.watch(name, pool)),
      acquired: (ms, isGiven) => tell(({ pools }) => pools.acquired(ms, isGiven)),
    },
    service: {
      failed: (error, call) => tell(({ service }) => service.failed(error, call)),
      reached: (limit) => tell(({ service }) => service.reached(limit)),
      refusedToken: (fault) => tell(({ service }) => service.refusedToken(fault)),
      readFromReplica: (outcome) => tell(({ service }) => service.readFromReplica(outcome)),
      sentToWebhook: (outcome) => tell(({ service }) => service.sentToWebhook(outcome)),
      disabledWebhook: (reason) => tell(({ service }) => service.disabledWebhook(reason)),
      watchReadiness: (takesWrites) => tell(({ service }) => service.watchReadiness(takesWrites)),
      watchKeys: (ageMs) => tell(({ service }) => service.watchKeys(ageMs)),
      watchWaiting: (count) => tell(({ service }) => service.watchWaiting(count)),
      watchBacklog: (read) => tell(({ service }) => service.watchBacklog(read)),
    },
  };
}

/** Loads the metrics library and creates the instruments. Between the imports, the process can serve requests. */
async function loadMetrics(config: TelemetryConfig["metrics"]) {
  await import("@opentelemetry/api");
  await import("@opentelemetry/resources");
  await import("@opentelemetry/sdk-metrics");
  const { openLiveMetrics } = await import("./metrics/live-metrics.js");
  return openLiveMetrics(config);
}

async function openSending(config: TelemetryConfig, onError: TelemetryOptions["onError"]) {
  if (config.traces === undefined && config.metrics === undefined) return undefined;
  const { reportSendingErrors } = await import("./sending-errors.js");
  const stopReporting = reportSendingErrors(onError);
  const { openTracing } = await import("./traces/open-tracing.js");
  const tracing = config.traces && (await openTracing(config.traces));
  return {
    ...tracing,
    async close() {
      await tracing?.close();
      stopReporting();
    },
  };
}

/**
 * Waits for `work`, at most a second, and ignores its failure. An unreachable receiver thus does not delay the end of
 * the process.
 */
async function soon(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
