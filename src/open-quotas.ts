import type { Logger } from "pino";
import type { RateLimiter } from "./interceptors/rate-limit.js";
import { type OpenQuotaStore, openQuotaStore } from "./postgres/quota-windows.js";
import { localQuotaStore } from "./quotas/local-quota-store.js";
import type { RateQuotas } from "./quotas/quota-policies.js";
import { createRateLimiter } from "./quotas/rate-limiter.js";
import { describe } from "./request-log.js";

/** The quotas, and the store in which requests are counted. */
export interface QuotaOptions extends RateQuotas {
  readonly store: "memory" | "postgres";
  /** Number of processes that share the quotas. */
  readonly replicas: number;
  /**
   * The longest wait in milliseconds for a connection to the shared quotas, and for each statement. After this time or
   * an error, the process allows itself a part of each quota ({@link createRateLimiter}).
   */
  readonly withinMs: number;
}

/** A rate limiter that is ready for use, with its connections. */
export interface OpenQuotas {
  readonly rateLimiter: RateLimiter;
  /** The connection pool of the shared quotas; undefined for quotas in memory. */
  readonly pool: OpenQuotaStore["pool"] | undefined;
  close(): Promise<void>;
}

const AWAY = "shared quotas unavailable: this process counts its own part until the database answers";

/**
 * Opens the quotas in memory or in PostgreSQL, as `options.store` says. Sends nothing to the database before the first
 * request.
 */
export function openQuotas(
  options: QuotaOptions,
  databaseUrl: string,
  logger: Pick<Logger, "info" | "warn">,
): OpenQuotas {
  if (options.store === "memory") return inMemory(options);
  const store = openQuotaStore({ url: databaseUrl, withinMs: options.withinMs, onIdleError: () => undefined });
  const rateLimiter = createRateLimiter(options, {
    store,
    replicas: options.replicas,
    onAway: (error) => logger.warn({ cause: describe(error) }, AWAY),
    onBack: () => logger.info("shared quotas available again"),
  });
  return { rateLimiter, pool: store.pool, close: () => store.close() };
}

function inMemory(options: QuotaOptions): OpenQuotas {
  return {
    rateLimiter: createRateLimiter(options, { store: localQuotaStore, replicas: 1 }),
    pool: undefined,
    close: async () => undefined,
  };
}
