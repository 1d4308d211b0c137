import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { readyCall } from "./call.js";
import { openReadyDatabase } from "./database-startup.js";
import { defaultLimits } from "./http/limits.js";
import { type Listener, type ListenOptions, listen } from "./http/listen.js";
import { type Chain, createChain } from "./interceptors/chain.js";
import type { ErrorObserver } from "./interceptors/problems.js";
import { createMessageValidator } from "./interceptors/validation/validate-message.js";
import { createInternalApi } from "./internal-api.js";
import { scheduleKeyRotation } from "./jobs/rotate-option-keys.js";
import { type JobPorts, runJobs } from "./jobs/run-jobs.js";
import { type KeyRing, openKeyRing } from "./option-tokens/key-ring.js";
import { createOptionTokens } from "./option-tokens/option-tokens.js";
import { createPageTokens } from "./option-tokens/page-tokens.js";
import { openJobQueuePool } from "./postgres/job-queue-pool.js";
import { openReadinessProbe } from "./postgres/readiness-probe.js";
import { optionTokenKeys } from "./postgres/tables/appointments/option-token-keys.js";
import { insertAccessRecords } from "./postgres/tables/patients/patient-evidence.js";
import { UnitOfWork } from "./postgres/unit-of-work.js";
import { createPublicApi, socketProblems } from "./public-api.js";
import { createMemoryRateLimiter } from "./rate-limiter.js";
import { describe, type HttpHandler, logged, logRefusedConnections, observeError } from "./request-log.js";
import { listViolations } from "./rest/violations/list-violations.js";
import { createServices, type ServiceEntry } from "./services/services.js";
import type { Config } from "./settings/config.js";
import { openTrustedIssuer } from "./trusted-issuer.js";
import { createWorkplaces } from "./workplaces.js";

/** A running service. */
export interface RunningServer {
  readonly publicUrl: string;
  readonly internalUrl: string;
  /**
   * Stops gracefully: readiness goes off, no new connections, requests in flight finish (HTTP/2 sessions are told by
   * GOAWAY), then the pool is closed. Takes less than 10 s; further calls wait for the first.
   */
  close(): Promise<void>;
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
}

type Closer = () => Promise<void> | void;

const TRANSACTION_LIMITS = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 1_000,
  workLockTimeoutMs: 5_000,
  idleTimeoutMs: 15_000,
};
const GRACE_MS = 8_000;

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
  { logger, now, served = (entry) => entry, runsJobs = true }: ServerPorts,
  closers: Closer[],
): Promise<RunningServer> {
  const warn = (text: string) => (error: unknown) => logger.warn({ cause: describe(error) }, text);
  let stopJobs: Closer = () => undefined;
  const database = await openReadyDatabase(config, config.databaseConnections.calls, logger);
  const probe = openReadinessProbe({ url: config.databaseUrl, onReadOnly: () => database.discardConnections() });
  closers.push(
    () => database.close(),
    () => probe.close(),
    () => stopJobs(),
  );
  const issuer = await openTrustedIssuer(config, now, warn("the issuer's keys were not refreshed"));
  closers.push(() => issuer.close());
  const keyRing = await openKeyRing({ store: optionTokenKeys(database), now });
  closers.push(scheduleKeyRotation(keyRing, warn("the keys of option tokens were not rotated")));
  const validate = createMessageValidator();
  const parts: Parts = {
    chain: createChain({
      verifyToken: issuer.verifyToken,
      rateLimiter: createMemoryRateLimiter(config.rateLimit),
      validate,
      listErrors: listViolations,
      places: createWorkplaces(config.callsAtWork),
      store: new UnitOfWork(database, { ...TRANSACTION_LIMITS, backOff }),
      recordAccess: (call, patientIds) => insertAccessRecords(readyCall(call), patientIds),
      pages: createPageTokens(keyRing),
    }),
    validate,
    services: servicesOf(config, keyRing, now).map(served),
    observe: (error, call) => observeError(error, call, logger),
    log: (handler) => logged(handler, logger),
  };
  const server = await openListeners(config, logger, parts, () => probe.takesWrites(), closers);
  if (runsJobs) stopJobs = startJobs({ database, now, logger }, config, warn("background jobs stopped for a while"));
  return server;
}

function servicesOf(
  { slotLimits, visitMargins }: ServerConfig,
  keyRing: KeyRing,
  now: () => number,
): readonly ServiceEntry[] {
  return createServices({ now, tokens: createOptionTokens({ keyRing, now }), slotLimits, visitMargins });
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

interface Parts {
  readonly chain: Chain;
  readonly validate: ReturnType<typeof createMessageValidator>;
  readonly services: readonly ServiceEntry[];
  readonly observe: ErrorObserver;
  readonly log: (handler: HttpHandler) => HttpHandler;
}

async function openListeners(
  config: Config,
  logger: Logger,
  parts: Parts,
  takesWrites: () => Promise<boolean>,
  closers: Closer[],
): Promise<RunningServer> {
  let isClosing = false;
  const isReady = async () => !isClosing && (await takesWrites());
  const problemsUrlAt = (ownUrl: string) => config.problemsUrl ?? `${config.publicUrl ?? ownUrl}/problems`;
  const publicListener = await openListener(config, config.public, logger, (url) => {
    const options = { ...parts, basePath: config.basePath, problemsUrl: problemsUrlAt(url) };
    return { handler: parts.log(createPublicApi(options)), socketError: socketProblems(options) };
  });
  closers.push(() => publicListener.close(GRACE_MS).then(reportForced(logger)));
  const problemsUrl = problemsUrlAt(publicListener.url);
  const internalListener = await openListener(config, config.internal, logger, () => {
    const options = { ...parts, problemsUrl, isReady };
    return { handler: parts.log(createInternalApi(options)), socketError: socketProblems(options) };
  });
  closers.push(() => internalListener.close(GRACE_MS).then(reportForced(logger)));
  let closed: Promise<void> | undefined;
  const close = async () => {
    isClosing = true;
    await Promise.all(closers.splice(-2).map(async (closeListener) => closeListener()));
    await closeAll(closers);
  };
  return {
    publicUrl: publicListener.url,
    internalUrl: internalListener.url,
    close: () => (closed ??= close()),
  };
}

function openListener(
  { tls, connections }: Config,
  address: { readonly host: string; readonly port: number },
  logger: Logger,
  answerAt: ListenOptions["answerAt"],
): Promise<Listener> {
  return listen({
    ...address,
    ...(tls === undefined ? {} : { tls: { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) } }),
    answerAt,
    limits: { ...defaultLimits, ...connections },
    acceptError: (error) => logger.error({ cause: describe(error) }, "a connection could not be accepted"),
    refused: logRefusedConnections(logger, 60_000),
  });
}

function reportForced(logger: Logger): (result: { forced: number }) => void {
  return ({ forced }) => {
    if (forced > 0) logger.warn({ forced }, "connections were cut off after the grace period");
  };
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

/** Full jitter: anything up to 20 ms before the first retry, doubling with each. */
function backOff(attempt: number): Promise<void> {
  return delay(Math.random() * 10 * 2 ** attempt);
}
