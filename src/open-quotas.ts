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
   * The longest wait for a connection to the shared quotas, and for each statement, in milliseconds. After this time or
   * an error, the process counts only its own requests. In each window, it then allows the requests that the store has
   * already granted to it, and one share of each quota:
   * - If the database has answered in the current window, the share is the number of requests that were left at its
   *   last answer, divided by `replicas`.
   * - Otherwise the share is the whole quota divided by `replicas`.
   *
   * A share is at least one request.
   */
  readonly withinMs: number;
}

/** An open rate limiter. */
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
