import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import { openDevelopmentIssuer } from "../auth/development-issuer.js";
import { withDocumentedIds } from "../demo/documented-ids.js";
import { fillDemo } from "../demo/fill-demo.js";
import { registrationLine } from "../demo/registration-line.js";
import { describe } from "../request-log.js";
import { type RunningServer, type ServerPorts, startServer } from "../server.js";
import { type Config, readConfig } from "../settings/config.js";
import { readTelemetryConfig } from "../telemetry/telemetry-config.js";
import { announceStart, progressOf } from "./announce-start.js";
import { shownToken, signPageToken } from "./development-tokens.js";
import { fail } from "./fail.js";
import { newPageKey } from "./list-addresses.js";
import { onDatabase } from "./on-database.js";
import { openLogger } from "./open-logger.js";
import { stopOnSignal } from "./stop-on-signal.js";
import type { WorkerStart } from "./workers/messages.js";
import { openWorkerPool } from "./workers/worker-pool.js";
import { joinPrimary } from "./workers/worker-process.js";

/** The options of `cupo serve`. */
export interface ServeFlags {
  /** Whether to fill the demo tenants. They are filled only with the development issuer. */
  readonly demo?: boolean;
  /** How many processes serve; "auto" is one for each processor. Defaults to 1. */
  readonly workers?: number | "auto";
}

/**
 * V8's heap may grow by this many percent over the live data before the next collection. By default, V8 lets the heap
 * grow by more than 100 percent. Objects of a request live only as long as the request, so a larger heap costs much
 * memory and saves little time.
 */
const HEAP_GROWING_PERCENT = 40;
/**
 * Maps the configured log level to the level that applies while the demo tenants are filled. A level without an entry
 * stays the same. The level `warn` hides the log lines of requests: the filling sends many, and has its own progress
 * lines.
 */
const QUIET_LEVELS: Readonly<Record<string, string>> = { info: "warn" };
/** Milliseconds for which a replaced worker drains, that is, asks its clients to disconnect. */
const REPLACED_DRAIN_MS = 1_000;

/**
 * Starts the service in this process, or in workers that share the listeners. Resolves after the start. The service
 * then runs until a signal ends the process.
 */
export async function serve({ demo = false, workers = 1 }: ServeFlags): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const config = readConfig(process.env);
  const logger = await openLogger(config, process.stdout);
  process.on("unhandledRejection", (error) => {
    logger.error({ cause: describe(error) }, "a background task failed; the service continues");
  });
  if (cluster.isWorker) return serveAsWorker(config, logger, demo);
  const pageKey = newPageKey(config, process.stdout);
  const count = workers === "auto" ? availableParallelism() : workers;
  const server = await onDatabase(config, logger, (urls) =>
    count > 1
      ? openPool({ ...urls, pageKey, workers: count }, logger)
      : openServer(config, logger, { ...urls, pageKey }, demo),
  );
  const signal = stopOnSignal(server.close, config.drainSeconds * 1_000, logger, (error) => fail(error, logger));
  if (demo && config.issuer === undefined) {
    logger.level = QUIET_LEVELS[config.logLevel] ?? config.logLevel;
    await fillDemoTenants(server.internalUrl, config, signal, logger);
    logger.level = config.logLevel;
  }
  const addresses = { ...server, basePath: config.basePath, pageKey };
  const firstRequest = async (isSigned: boolean) =>
    registrationLine(`${server.publicUrl}${config.basePath}`, await shownToken(isSigned), new Date());
  if (!signal.aborted) await announceStart(config, addresses, { logger, output: process.stdout, firstRequest });
}

function openServer(
  config: Config,
  logger: Logger,
  { pageKey, ...urls }: Omit<WorkerStart, "workers">,
  demo: boolean,
  replaced: Pick<ServerPorts, "metricsOf"> = {},
): Promise<RunningServer> {
  const telemetry = readTelemetryConfig(process.env);
  for (const warning of telemetry.warnings) logger.warn(warning);
  const demoTokens = pageKey === undefined ? undefined : { key: pageKey, sign: signPageToken };
  const served = demo ? { served: withDocumentedIds } : {};
  return startServer({ ...config, ...urls }, { logger, now: Date.now, demoTokens, telemetry, ...served, ...replaced });
}

/** Starts the workers. SIGUSR2 restarts them, one after the other. */
async function openPool(start: WorkerStart, logger: Logger) {
  const pool = await openWorkerPool(start, logger);
  let restarting: Promise<void> | undefined;
  process.on("SIGUSR2", () => {
    restarting ??= pool
      .restart()
      .catch((error: unknown) => logger.error({ cause: describe(error) }, "restarting the workers failed"))
      .finally(() => (restarting = undefined));
  });
  return pool;
}

/** Serves as one of several workers. The primary process announces the start and fills the demo tenants. */
async function serveAsWorker(config: Config, logger: Logger, demo: boolean): Promise<void> {
  const primary = await joinPrimary();
  const failed = (error: unknown) => fail(error, logger);
  let ownMetrics: () => Promise<Buffer | undefined> = async () => undefined;
  const metricsOf = (own: () => Promise<Buffer | undefined>) => {
    ownMetrics = own;
    return () => primary.allMetrics(own);
  };
  const { workers, ...start } = primary.start;
  const shared = withSharedQuotas(config, workers);
  const server = await openServer(shared, logger, start, demo, { metricsOf }).catch(failed);
  stopOnSignal(server.close, config.drainSeconds * 1_000, logger, failed);
  const replaced = () => void server.close(REPLACED_DRAIN_MS).then(() => process.exit(0), failed);
  primary.listening(server, { ownMetrics: () => ownMetrics(), replaced });
}

/** Returns the settings of a worker. Workers share the quotas as replicas do: each worker counts as one replica. */
function withSharedQuotas(config: Config, workers: number): Config {
  const { replicas } = config.rateLimit;
  return { ...config, rateLimit: { ...config.rateLimit, store: "postgres", replicas: replicas * workers } };
}

/** Fills the demo tenants. A failure does not stop the service; the next start continues the filling. */
async function fillDemoTenants(internalUrl: string, config: Config, signal: AbortSignal, logger: Logger) {
  const onProgress = progressOf(config, logger, process.stdout);
  try {
    const issuer = await openDevelopmentIssuer({ dataDir: config.dataDir, now: Date.now });
    await fillDemo({ internalUrl, issuer, now: Date.now, signal, onProgress });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) logger.error(`the demo is not complete; the next start continues it: ${reason}`);
  }
}
