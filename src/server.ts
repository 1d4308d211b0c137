import { listViolations } from "@cupo/connect-rest";
import type { Logger } from "pino";
import { createCallStore, openReadyDatabase, openReplica } from "./database-startup.js";
import { openEventFeeds } from "./events/open-event-feeds.js";
import { createChain } from "./interceptors/chain.js";
import { createStopping } from "./interceptors/stream-life.js";
import { messageValidatorOf } from "./interceptors/validation/validate-message.js";
import { readBacklog } from "./jobs/read-backlog.js";
import { scheduleKeyRotation } from "./jobs/rotate-option-keys.js";
import { type ListenerParts, type OpenListeners, openListeners, watchRequests } from "./listeners/listeners.js";
import { openLimits } from "./open-limits.js";
import { openWebhooks } from "./open-webhooks.js";
import { type KeyRing, openKeyRing } from "./option-tokens/key-ring.js";
import { createOptionTokens } from "./option-tokens/option-tokens.js";
import { createPageTokens } from "./option-tokens/page-tokens.js";
import type { Database } from "./postgres/database.js";
import { openReadinessProbe } from "./postgres/readiness-probe.js";
import { optionTokenKeys } from "./postgres/tables/appointments/option-token-keys.js";
import type { DemoTokens } from "./reference-page/reference-pages.js";
import { describe, logForgedTokens } from "./request-log.js";
import { warmUpScreening } from "./screening/warm-up.js";
import { createServices, type ServiceEntry, type ServicePorts, servedServices } from "./services/services.js";
import type { Config } from "./settings/config.js";
import { startJobs } from "./start-jobs.js";
import { cachedMeasurement } from "./telemetry/metrics/cached-measurement.js";
import { openTelemetry, type Telemetry } from "./telemetry/open-telemetry.js";
import type { TelemetryConfig } from "./telemetry/telemetry-config.js";
import { openTrustedIssuer, operatorsOf } from "./trusted-issuer.js";

/** A running service. */
export interface RunningServer {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /**
   * Stops gracefully. Readiness becomes false and streams end. For `drainMs` (default 0), requests are still served,
   * and clients are asked to disconnect. Then no new connections are accepted, and requests in flight have 8 s to
   * finish. Finally the jobs stop and the pools are closed. Further calls of `close` wait for the first.
   */
  close(drainMs?: number): Promise<void>;
}

/** The settings of a service: {@link Config} with a required database URL. */
export type ServerConfig = Omit<Config, "databaseUrl"> & { readonly databaseUrl: string };

/** The dependencies of the service, and replacements for some of its components. */
export interface ServerPorts {
  readonly logger: Logger;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the service that both listeners serve in place of `entry`. By default, they serve `entry`. */
  readonly served?: (entry: ServiceEntry) => ServiceEntry;
  /** Whether the process runs background jobs. Defaults to true. */
  readonly runsJobs?: boolean;
  /** Where metrics and traces are sent. Defaults to nowhere. */
  readonly telemetry?: TelemetryConfig;
  /** How many milliseconds a page of metrics is reused for later requests. Defaults to 1000. */
  readonly metricsMaxAgeMs?: number;
  /** How many milliseconds a receiver of webhooks has to respond. Defaults to 10,000. */
  readonly sendTimeoutMs?: number | undefined;
  /** Returns the function that creates the page for `/metrics`. By default, returns `own`, which shows this process. */
  readonly metricsOf?: (own: Telemetry["metricsPage"]) => Telemetry["metricsPage"];
  /** Issues tokens of the development issuer for the API reference pages. Ignored if an issuer is configured. */
  readonly demoTokens?: DemoTokens | undefined;
}

/** {@link readBacklog} runs at most once per `maxAgeMs` ms. A page of metrics waits at most `timeoutMs` ms for it. */
const BACKLOG_PACE = { maxAgeMs: 10_000, timeoutMs: 1_000 };

/** Log lines that any caller can cause are written at most once in this many milliseconds. */
const LOG_EVERY_MS = 60_000;

type Closer = () => Promise<void> | void;

/** Assembles and starts the service. If a component cannot start, closes those that have started, and rejects. */
export async function startServer(config: ServerConfig, ports: ServerPorts): Promise<RunningServer> {
  const closers: Closer[] = [];
  try {
    return await start(config, ports, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function start(
  config: ServerConfig,
  { logger, now, served = (entry) => entry, runsJobs = true, demoTokens, ...ports }: ServerPorts,
  closers: Closer[],
): Promise<RunningServer> {
  const telemetry = await openTelemetry(telemetryOptions(config, logger, ports));
  closers.push(() => telemetry.close());
  let stopJobs: Closer = () => undefined;
  const data = await openDatabase(config, { logger, now }, telemetry, closers);
  closers.push(() => stopJobs());
  const { verifyToken } = await openIssuer(config, { logger, now }, telemetry, closers);
  const keyRing = await openTokenKeys(data.database, { logger, now }, closers);
  const validate = messageValidatorOf;
  const stopping = createStopping();
  const parts: ListenerParts = {
    now,
    stopping,
    chain: createChain({
      ...openLimits(config, logger, telemetry, closers),
      verifyToken,
      validate,
      listErrors: listViolations,
      stopping: stopping.signal,
      ...data.calls,
      pages: createPageTokens(keyRing),
      isTraced: telemetry.isTraced,
    }),
    validate,
    services: servicesOf(config, { ...data, keyRing, now, validatorOf: validate }).map(served),
    ...watchRequests(telemetry, logger, ports.metricsOf),
    demoTokens: config.issuer === undefined ? demoTokens : undefined,
  };
  const listeners = await openListeners(config, logger, parts, () => data.probe.takesWrites());
  closers.push(warmUpScreening());
  if (runsJobs) stopJobs = startJobs({ ...data, now, logger, sendTimeoutMs: ports.sendTimeoutMs }, config, telemetry);
  telemetry.started();
  return running(listeners, closers);
}

function telemetryOptions({ basePath }: ServerConfig, logger: Logger, ports: Partial<ServerPorts>) {
  const { telemetry: config, metricsMaxAgeMs: pageMaxAgeMs } = ports;
  const services = servedServices.map(({ service }) => service);
  return { config, pageMaxAgeMs, basePath, services, onError: warning(logger, "sending metrics or traces failed") };
}

async function openDatabase(
  config: ServerConfig,
  { logger, now }: Pick<ServerPorts, "logger" | "now">,
  { pools, service }: Telemetry,
  closers: Closer[],
) {
  const database = await openReadyDatabase(config, config, logger, pools.acquired);
  closers.push(() => database.close());
  pools.watch("calls", database.pool);
  const replica = await openReplica(config, database, logger, (outcome) => service.readFromReplica(outcome));
  closers.push(() => replica?.close());
  if (replica !== undefined) pools.watch("replica", replica.pool);
  service.watchBacklog(cachedMeasurement(() => readBacklog(database, now), BACKLOG_PACE));
  const probe = openReadinessProbe({ url: config.databaseUrl, onModeChanged: () => database.discardConnections() });
  closers.push(() => probe.close());
  service.watchReadiness(() => probe.takesWrites());
  const onError = warning(logger, "reading the change feed failed; events arrive late until it succeeds");
  const feeds = openEventFeeds({ database, databaseUrl: config.databaseUrl, onError });
  closers.push(() => feeds.close());
  const webhooks = await openWebhooks(config, { database, now, logger });
  closers.push(() => webhooks.close());
  const onCommitted = (tenantId: string) => {
    feeds.committed(tenantId);
    webhooks.committed(tenantId);
  };
  const calls = { ...createCallStore(database, onCommitted, replica?.reads), resultSeal: webhooks.resultSeal };
  return { database, calls, probe, feeds, webhooks, onCommitted };
}

async function openTokenKeys(
  database: Pick<Database, "pool">,
  { logger, now }: Pick<ServerPorts, "logger" | "now">,
  closers: Closer[],
): Promise<KeyRing> {
  const keyRing = await openKeyRing({ store: optionTokenKeys(database), now });
  closers.push(scheduleKeyRotation(keyRing, warning(logger, "rotating token keys failed; retrying in 30 min")));
  return keyRing;
}

async function openIssuer(
  config: ServerConfig,
  { logger, now }: Pick<ServerPorts, "logger" | "now">,
  { fetch, service }: Telemetry,
  closers: Closer[],
) {
  const onError = warning(logger, "the issuer's keys were not refreshed");
  const logForged = logForgedTokens(logger, LOG_EVERY_MS);
  const issuer = await openTrustedIssuer(config, now, onError, fetch, (fault) => {
    service.refusedToken(fault);
    logForged(fault);
  });
  closers.push(() => issuer.close());
  service.watchKeys(() => issuer.keysAgeMs());
  return issuer;
}

function running(listeners: OpenListeners, closers: Closer[]): RunningServer {
  let closed: Promise<void> | undefined;
  const close = async (drainMs: number) => {
    await listeners.close(drainMs);
    await closeAll(closers);
  };
  return { ...listeners, close: (drainMs = 0) => (closed ??= close(drainMs)) };
}

/** The dependencies of the RPC services, apart from the settings. */
interface ServiceParts extends Pick<ServicePorts, "now" | "validatorOf"> {
  readonly keyRing: KeyRing;
  readonly feeds: ServicePorts["events"];
  readonly webhooks: { readonly service: ServicePorts["webhooks"] };
}

function servicesOf(
  { slotLimits, holdsPerPrincipal, visitMargins, ...trust }: ServerConfig,
  { keyRing, now, validatorOf, feeds, webhooks }: ServiceParts,
): readonly ServiceEntry[] {
  const made = { tokens: createOptionTokens({ keyRing, now }), isOperator: operatorsOf(trust) };
  const ports = { ...made, now, slotLimits, holdsPerPrincipal, visitMargins, validatorOf };
  return createServices({ ...ports, events: feeds, webhooks: webhooks.service });
}

/** Returns a function that logs a failure after which the service continues. */
function warning(logger: Logger, text: string): (error: unknown) => void {
  return (error) => logger.warn({ cause: describe(error) }, text);
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
