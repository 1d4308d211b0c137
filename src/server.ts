import type { Logger } from "pino";
import { createCallStore, openReadyDatabase, openReplica } from "./database-startup.js";
import { openEventFeeds } from "./events/open-event-feeds.js";
import { createChain } from "./interceptors/chain.js";
import { createStopping } from "./interceptors/stream-life.js";
import { createMessageValidator } from "./interceptors/validation/validate-message.js";
import { readBacklog } from "./jobs/read-backlog.js";
import { scheduleKeyRotation } from "./jobs/rotate-option-keys.js";
import { type JobPorts, runJobs } from "./jobs/run-jobs.js";
import { type ListenerParts, type OpenListeners, openListeners, watchRequests } from "./listeners.js";
import { openLimits } from "./open-limits.js";
import { type KeyRing, openKeyRing } from "./option-tokens/key-ring.js";
import { createOptionTokens } from "./option-tokens/option-tokens.js";
import { createPageTokens } from "./option-tokens/page-tokens.js";
import type { Database } from "./postgres/database.js";
import { breakerOf, openJobQueuePool } from "./postgres/job-queue-pool.js";
import { openReadinessProbe } from "./postgres/readiness-probe.js";
import { optionTokenKeys } from "./postgres/tables/appointments/option-token-keys.js";
import type { TokenIssue } from "./reference-page/reference-pages.js";
import { describe } from "./request-log.js";
import { listViolations } from "./rest/violations/list-violations.js";
import { warmUpScreening } from "./screening/warm-up.js";
import type { WatchPorts } from "./services/events/watch-events.js";
import { createServices, type ServiceEntry, servedServices } from "./services/services.js";
import type { Config } from "./settings/config.js";
import { keptMeasurement } from "./telemetry/metrics/kept-measurement.js";
import { openTelemetry, type Telemetry } from "./telemetry/open-telemetry.js";
import type { TelemetryTerms } from "./telemetry/telemetry-terms.js";
import { encodeTextsByBuffer } from "./text-encoding.js";
import { openTrustedIssuer } from "./trusted-issuer.js";

/** A running service. */
export interface RunningServer {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /**
   * Stops gracefully: readiness goes off, clients are told to go elsewhere and served for `drainMs`, 0 unless given; then there
   * are no new connections, requests in flight finish (HTTP/2 sessions are told by GOAWAY), and the pool is closed. Takes
   * less than 8 s more; further calls wait for the first.
   */
  close(drainMs?: number): Promise<void>;
}

/** The settings of a service whose database runs. */
export type ServerConfig = Omit<Config, "databaseUrl"> & { readonly databaseUrl: string };

/** What the service needs from outside, and what may be put in place of the real thing. */
export interface ServerPorts {
  readonly logger: Logger;
  /** Milliseconds since the epoch; the clock of tokens and services. */
  readonly now: () => number;
  /** Gives what is served in place of a service, on both listeners; the service itself unless given. */
  readonly served?: (entry: ServiceEntry) => ServiceEntry;
  /** Whether the process works on background jobs; it does unless told otherwise. */
  readonly runsJobs?: boolean;
  /** Where metrics and traces are sent; nowhere unless given. */
  readonly telemetry?: TelemetryTerms;
  /** Signs tokens of the development issuer for the reference pages; not used where there is a real issuer. */
  readonly issueToken?: TokenIssue;
}

/** The backlog is of all processes, each of which tells it: so none asks often, nor keeps who wants metrics waiting. */
const BACKLOG_PACE = { maxAgeMs: 10_000, patienceMs: 1_000 };

type Closer = () => Promise<void> | void;

/** Puts the service together and starts it. Rejects, with everything closed again, where a part cannot start. */
export async function startServer(config: ServerConfig, ports: ServerPorts): Promise<RunningServer> {
  const closers: Closer[] = [];
  encodeTextsByBuffer();
  try {
    return await start(config, ports, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function start(
  config: ServerConfig,
  { logger, now, served = (entry) => entry, runsJobs = true, issueToken, telemetry: terms }: ServerPorts,
  closers: Closer[],
): Promise<RunningServer> {
  const telemetry = await openTelemetry({ terms, ...telemetryOptions(config, logger) });
  closers.push(() => telemetry.close());
  let stopJobs: Closer = () => undefined;
  const { database, replica, probe, feeds } = await openDatabase(config, { logger, now }, telemetry, closers);
  closers.push(() => stopJobs());
  const { verifyToken } = await openIssuer(config, { logger, now }, telemetry, closers);
  const keyRing = await openKeyRing({ store: optionTokenKeys(database), now });
  closers.push(scheduleKeyRotation(keyRing, warning(logger, "the keys of option tokens were not rotated")));
  const validate = createMessageValidator();
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
      ...createCallStore(database, feeds.committed, replica),
      pages: createPageTokens(keyRing),
      isTraced: telemetry.isTraced,
    }),
    validate,
    services: servicesOf(config, keyRing, now, feeds).map(served),
    ...watchRequests(telemetry, logger),
    issueToken: config.issuer === undefined ? issueToken : undefined,
  };
  const listeners = await openListeners(config, logger, parts, () => probe.takesWrites());
  closers.push(warmUpScreening());
  if (runsJobs) stopJobs = startJobs({ database, now, logger }, config, telemetry);
  telemetry.started();
  return running(listeners, closers);
}

function telemetryOptions({ basePath }: ServerConfig, logger: Logger) {
  const services = servedServices.map(({ service }) => service);
  return { basePath, services, onError: warning(logger, "metrics or traces were not sent") };
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
  service.watchBacklog(keptMeasurement(() => readBacklog(database, now), BACKLOG_PACE));
  const probe = openReadinessProbe({ url: config.databaseUrl, onReadOnly: () => database.discardConnections() });
  closers.push(() => probe.close());
  service.watchReadiness(() => probe.takesWrites());
  const onError = warning(logger, "the change feed is slow");
  const feeds = openEventFeeds({ database, databaseUrl: config.databaseUrl, onError });
  closers.push(() => feeds.close());
  return { database, replica: replica?.reads, probe, feeds };
}

async function openIssuer(
  config: ServerConfig,
  { logger, now }: Pick<ServerPorts, "logger" | "now">,
  { fetch, service }: Telemetry,
  closers: Closer[],
) {
  const onError = warning(logger, "the issuer's keys were not refreshed");
  const issuer = await openTrustedIssuer(config, now, onError, fetch);
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

function servicesOf(
  { slotLimits, visitMargins }: ServerConfig,
  keyRing: KeyRing,
  now: () => number,
  events: WatchPorts,
): readonly ServiceEntry[] {
  return createServices({ now, tokens: createOptionTokens({ keyRing, now }), slotLimits, visitMargins, events });
}

/** Behind the listeners, and stopped behind them: requests may ask for jobs, and are answered without. */
function startJobs(
  ports: Pick<JobPorts, "now" | "logger"> & { readonly database: Database },
  { databaseUrl: url, databaseConnections, slotLimits }: ServerConfig,
  { pools, service }: Telemetry,
): Closer {
  const onError = warning(ports.logger, "background jobs stopped for a while");
  const queuePool = openJobQueuePool({ url, maxConnections: databaseConnections.jobs, onIdleError: onError });
  pools.watch("jobs", queuePool);
  ports.database.whenSilent(breakerOf(queuePool));
  const onFull = () => service.reached("open_slots");
  const stop = runJobs({ ...ports, maxOpenSlots: slotLimits.perTenant, queuePool, onError, onFull });
  return async () => {
    await stop();
    await queuePool.end();
  };
}

/** Tells the log of a failure that the service goes on after. */
function warning(logger: Logger, text: string): (error: unknown) => void {
  return (error) => logger.warn({ cause: describe(error) }, text);
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}
