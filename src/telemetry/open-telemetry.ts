import type { DescService } from "@bufbuild/protobuf";
import type { RequestObserver } from "../request-log.js";
import { deferMetrics } from "./metrics/deferred-metrics.js";
import type { PoolMetrics } from "./metrics/pool-metrics.js";
import type { ServiceMetrics } from "./metrics/service-metrics.js";
import { catalogOf } from "./operation-catalog.js";
import { factsOf, type ListenerName } from "./request-facts.js";
import type { TelemetryTerms } from "./telemetry-terms.js";

/** What a process tells of itself: metrics always, traces where somebody takes them. */
export interface Telemetry {
  readonly pools: PoolMetrics;
  readonly service: ServiceMetrics;
  /** Whether calls have traces. */
  readonly isTraced: boolean;
  /** For requests that the service makes itself. */
  readonly fetch: typeof globalThis.fetch;
  /** Watches the requests of a listener. */
  requestsOf(listener: ListenerName): RequestObserver;
  /** All metrics as Prometheus reads them. */
  metricsPage(): Promise<string>;
  /** Says that the service has started: what metrics take is loaded a little later, if nobody asked for them before. */
  started(): void;
  /** Sends what was not sent yet, for a while. Never rejects. */
  close(): Promise<void>;
}

/** What telemetry is opened with. */
export interface TelemetryOptions {
  /** Nothing is sent unless given. */
  readonly terms: TelemetryTerms | undefined;
  readonly services: readonly DescService[];
  readonly basePath: string;
  /** Told that something could not be sent, once a minute at most. */
  readonly onError: (error: unknown) => void;
}

const NOTHING: TelemetryTerms = { warnings: [] };
const LOAD_AFTER_MS = 250;
const CLOSE_MS = 1_000;

/**
 * Opens metrics and, where they are sent, traces. OpenTelemetry's SDK is loaded here and nowhere else: for metrics behind the start
 * of the service, for what is sent ahead of it, for traces not at all unless they are sent.
 */
export async function openTelemetry({ terms = NOTHING, ...options }: TelemetryOptions): Promise<Telemetry> {
  const metrics = deferMetrics(() => loadMetrics(terms.metrics));
  if (terms.metrics !== undefined) await metrics.load();
  const sending = await openSending(terms, options.onError);
  const catalog = catalogOf(options.services, options.basePath);
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
    metricsPage: async () => (await metrics.load()).page(),
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
      readFromReplica: (outcome) => tell(({ service }) => service.readFromReplica(outcome)),
      watchReadiness: (takesWrites) => tell(({ service }) => service.watchReadiness(takesWrites)),
      watchKeys: (ageMs) => tell(({ service }) => service.watchKeys(ageMs)),
      watchWaiting: (count) => tell(({ service }) => service.watchWaiting(count)),
      watchBacklog: (read) => tell(({ service }) => service.watchBacklog(read)),
    },
  };
}

/** The library comes in pieces, between which what the service is for has its turn. */
async function loadMetrics(terms: TelemetryTerms["metrics"]) {
  await import("@opentelemetry/api");
  await import("@opentelemetry/resources");
  await import("@opentelemetry/sdk-metrics");
  const { openLiveMetrics } = await import("./metrics/live-metrics.js");
  return openLiveMetrics(terms);
}

async function openSending(terms: TelemetryTerms, onError: TelemetryOptions["onError"]) {
  if (terms.traces === undefined && terms.metrics === undefined) return undefined;
  const { reportSendingErrors } = await import("./sending-errors.js");
  const stopReporting = reportSendingErrors(onError);
  const { openTracing } = await import("./traces/open-tracing.js");
  const tracing = terms.traces && (await openTracing(terms.traces));
  return {
    ...tracing,
    async close() {
      await tracing?.close();
      stopReporting();
    },
  };
}

/** A receiver that is away must not keep the process from ending. */
async function soon(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
