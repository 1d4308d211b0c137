import type { Logger } from "pino";
import type { RateLimiter } from "../interceptors/rate-limit.js";
import { type OpenQuotaStore, openQuotaStore } from "../postgres/quota-windows.js";
import { describe } from "../request-log.js";
import { createMemoryRateLimiter } from "./memory-rate-limiter.js";
import type { RateQuotas } from "./quota-policies.js";
import { createSharedRateLimiter } from "./shared-rate-limiter.js";

/** The quotas, and where they are counted. */
export interface QuotaTerms extends RateQuotas {
  readonly store: "memory" | "postgres";
  /** How many processes share them. */
  readonly replicas: number;
  /** How long a call waits for what it may take, in milliseconds. */
  readonly withinMs: number;
}

/** What counts requests, and the way to end it. */
export interface OpenQuotas {
  readonly rateLimiter: RateLimiter;
  /** The connections that they take; undefined where they take none. */
  readonly pool: OpenQuotaStore["pool"] | undefined;
  close(): Promise<void>;
}

const AWAY = "quotas cannot be shared for now: this process counts its part of them by itself";

/** Opens the quotas where the settings say that they are counted. Nothing is asked of the database before the first request. */
export function openQuotas(terms: QuotaTerms, databaseUrl: string, logger: Pick<Logger, "info" | "warn">): OpenQuotas {
  if (terms.store === "memory") return inMemory(terms);
  const store = openQuotaStore({ url: databaseUrl, withinMs: terms.withinMs, onIdleError: () => undefined });
  const rateLimiter = createSharedRateLimiter(terms, {
    store,
    replicas: terms.replicas,
    onAway: (error) => logger.warn({ cause: describe(error) }, AWAY),
    onBack: () => logger.info("quotas are shared again"),
  });
  return { rateLimiter, pool: store.pool, close: () => store.close() };
}

function inMemory(terms: QuotaTerms): OpenQuotas {
  return { rateLimiter: createMemoryRateLimiter(terms), pool: undefined, close: async () => undefined };
}
