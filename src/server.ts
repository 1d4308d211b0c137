import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { readyCall } from "./call.js";
import { openReadyDatabase } from "./database-startup.js";
import { openEventFeeds } from "./events/open-event-feeds.js";
import { createChain } from "./interceptors/chain.js";
import { createStopping } from "./interceptors/stream-life.js";
import { createMessageValidator } from "./interceptors/validation/validate-message.js";
import { createWorkplaces } from "./interceptors/workplaces.js";
import { scheduleKeyRotation } from "./jobs/rotate-option-keys.js";
import { type JobPorts, runJobs } from "./jobs/run-jobs.js";
import { type ListenerParts, type OpenListeners, openListeners } from "./listeners.js";
import { type KeyRing, openKeyRing } from "./option-tokens/key-ring.js";
import { createOptionTokens } from "./option-tokens/option-tokens.js";
import { createPageTokens } from "./option-tokens/page-tokens.js";
import { openJobQueuePool } from "./postgres/job-queue-pool.js";
import { openReadinessProbe } from "./postgres/readiness-probe.js";
import { optionTokenKeys } from "./postgres/tables/appointments/option-token-keys.js";
import { insertAccessRecords } from "./postgres/tables/patients/patient-evidence.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";
import { openQuotas } from "./quotas/open-quotas.js";
import type { TokenIssue } from "./reference-page/reference-pages.js";
import { describe, logged, observeError } from "./request-log.js";
import { listViolations } from "./rest/violations/list-violations.js";
import { warmUpScreening } from "./screening/warm-up.js";
import type { WatchPorts } from "./services/events/watch-events.js";
import { createServices, type ServiceEntry } from "./services/services.js";
import type { Config } from "./settings/config.js";
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
  /** Signs tokens of the development issuer for the reference pages; not used where there is a real issuer. */
  readonly issueToken?: TokenIssue;
}

type Closer = () => Promise<void> | void;

const TRANSACTION_LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 1_000,
  workLockTimeoutMs: 5_000,
  idleTimeoutMs: 15_000,
};

/** Puts the service together and starts it. Rejects, with everything closed again, where a part cannot start. */
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
  { logger, now, served = (entry) => entry, runsJobs = true, issueToken }: ServerPorts,
  closers: Closer[],
): Promise<RunningServer> {
  const warn = (text: string) => (error: unknown) => logger.warn({ cause: describe(error) }, text);
  let stopJobs: Closer = () => undefined;
  const { database, probe, feeds } = await openDatabase(config, logger, warn("the change feed is slow"), closers);
  closers.push(() => stopJobs());
  const issuer = await openTrustedIssuer(config, now, warn("the issuer's keys were not refreshed"));
  closers.push(() => issuer.close());
  const keyRing = await openKeyRing({ store: optionTokenKeys(database), now });
  closers.push(scheduleKeyRotation(keyRing, warn("the keys of option tokens were not rotated")));
  const validate = createMessageValidator();
  const stopping = createStopping();
  const parts: ListenerParts = {
    now,
    stopping,
    chain: createChain({
      ...openLimits(config, logger, closers),
      verifyToken: issuer.verifyToken,
      validate,
      listErrors: listViolations,
      stopping: stopping.signal,
      store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff, onCommitted: feeds.committed }),
      recordAccess: (call, patientIds) => insertAccessRecords(readyCall(call), patientIds),
      pages: createPageTokens(keyRing),
    }),
    validate,
    services: servicesOf(config, keyRing, now, feeds).map(served),
    observe: (error, call) => observeError(error, call, logger),
    log: (handler) => logged(handler, logger),
    issueToken: config.issuer === undefined ? issueToken : undefined,
  };
  const listeners = await openListeners(config, logger, parts, () => probe.takesWrites());
  if (runsJobs) stopJobs = startJobs({ database, now, logger }, config, warn("background jobs stopped for a while"));
  closers.push(warmUpScreening());
  return running(listeners, closers);
}

async function openDatabase(
  config: ServerConfig,
  logger: Logger,
  onFeedError: (error: unknown) => void,
  closers: Closer[],
) {
  const database = await openReadyDatabase(config, config.databaseConnections.calls, logger);
  closers.push(() => database.close());
  const probe = openReadinessProbe({ url: config.databaseUrl, onReadOnly: () => database.discardConnections() });
  closers.push(() => probe.close());
  const feeds = openEventFeeds({ database, databaseUrl: config.databaseUrl, onError: onFeedError });
  closers.push(() => feeds.close());
  return { database, probe, feeds };
}

function running(listeners: OpenListeners, closers: Closer[]): RunningServer {
  let closed: Promise<void> | undefined;
  const close = async (drainMs: number) => {
    await listeners.close(drainMs);
    await closeAll(closers);
  };
  return { ...listeners, close: (drainMs = 0) => (closed ??= close(drainMs)) };
}

function openLimits({ rateLimit, callsAtWork, streams, databaseUrl }: ServerConfig, logger: Logger, closers: Closer[]) {
  const quotas = openQuotas(rateLimit, databaseUrl, logger);
  closers.push(() => quotas.close());
  return {
    rateLimiter: quotas.rateLimiter,
    places: createWorkplaces(callsAtWork),
    streams: createWorkplaces(streams),
  };
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
  ports: Pick<JobPorts, "database" | "now" | "logger">,
  { databaseUrl: url, databaseConnections, slotLimits }: ServerConfig,
  onError: (error: unknown) => void,
): Closer {
  const queuePool = openJobQueuePool({ url, maxConnections: databaseConnections.jobs, onIdleError: onError });
  const stop = runJobs({ ...ports, maxOpenSlots: slotLimits.perTenant, queuePool, onError });
  return async () => {
    await stop();
    await queuePool.end();
  };
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

/** Full jitter: anything up to 20 ms before the first retry, doubling with each. */
function backOff(attempt: number): Promise<void> {
  return delay(Math.random() * 10 * 2 ** attempt);
}
