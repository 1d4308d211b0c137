import type { Logger } from "pino";
import type { ChainPorts } from "./interceptors/chain.js";
import { createConcurrencyLimiter } from "./interceptors/concurrency/concurrency-limiter.js";
import { createRejectionPacing } from "./interceptors/concurrency/rejection-pacing.js";
import { openQuotas } from "./open-quotas.js";
import type { Config } from "./settings/config.js";
import type { Telemetry } from "./telemetry/open-telemetry.js";

/** The limiters of requests, running calls and open streams, and the function that delays rejections. */
export type Limits = Pick<ChainPorts, "rateLimiter" | "calls" | "streams" | "paceRejection">;

/**
 * The default number of waiting calls per database connection. A call uses a connection for some tenths of a second. A
 * waiting call waits up to 2 s by default. So one connection can serve about ten waiting calls in time.
 */
const WAITING_FOR_EACH = 10;
/**
 * The limits of import batches that run at the same time in a process: for all tenants together, and for one tenant.
 * Each batch uses a database connection, so these limits leave connections for other calls.
 */
const BULK_CALLS = { bulk: 2, bulkPerTenant: 1 };

/**
 * Opens the quotas, the limiters of calls and of streams, and the pacing of rejections. Measures the waiting calls and
 * the quotas' pool, if there is one. Adds to `closers` the function that closes the quotas.
 *
 * The limit of running calls is the number of database connections for calls, including the connections to the replica.
 */
export function openLimits(
  {
    rateLimit,
    runningCalls,
    streams,
    databaseUrl,
    databaseConnections,
    replicaUrl,
    waitSeconds,
  }: Omit<Config, "databaseUrl"> & { readonly databaseUrl: string },
  logger: Logger,
  { pools, service }: Telemetry,
  closers: (() => Promise<void> | void)[],
): Limits {
  const all = databaseConnections.calls * (replicaUrl === undefined ? 1 : 2);
  const maxWaitMs = waitSeconds * 1_000;
  const waiting = runningCalls.waiting ?? all * WAITING_FOR_EACH;
  const calls = createConcurrencyLimiter({ ...runningCalls, ...BULK_CALLS, all, waiting, maxWaitMs });
  service.watchWaiting(() => calls.waiting);
  const quotas = openQuotas({ ...rateLimit, withinMs: maxWaitMs }, databaseUrl, logger);
  closers.push(() => quotas.close());
  if (quotas.pool !== undefined) pools.watch("quotas", quotas.pool);
  const { rateLimiter } = quotas;
  return {
    rateLimiter,
    calls,
    streams: createConcurrencyLimiter({ ...streams, maxWaitMs }),
    paceRejection: createRejectionPacing(),
  };
}
