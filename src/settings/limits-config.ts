import type { Setting } from "./setting-kinds.js";
import { settings } from "./settings.js";

/** The limits of request rates, connections, running calls, open streams and holds. */
export interface LimitsConfig {
  /** The quotas of a principal, where they are counted, and the number of processes that share them. */
  readonly rateLimit: {
    readonly perMinute: number;
    readonly perSecond: number;
    readonly store: "memory" | "postgres";
    readonly replicas: number;
  };
  /** Limits of the open connections of each listener, in total and from one IPv4 address or IPv6 /64 network. */
  readonly connections: { readonly maxConnections: number; readonly maxConnectionsPerNetwork: number };
  readonly runningCalls: {
    /**
     * How many calls may wait to run, over all tenants; undefined to derive the number from the number of database
     * connections.
     */
    readonly waiting: number | undefined;
    readonly perPrincipal: number;
    readonly perTenant: number;
    readonly heavy: number;
    readonly heavyPerTenant: number;
  };
  /** Limits of the streams that are open at the same time. */
  readonly streams: { readonly perPrincipal: number; readonly perTenant: number };
  /** The highest number of holds that a principal can have at the same time. Ended and expired holds do not count. */
  readonly holdsPerPrincipal: number;
}

/**
 * Returns the limits. An invalid setting becomes 0, its default or undefined. The caller does not use such a result,
 * because `read` has reported the setting as a problem.
 */
export function limitsOf(read: <T>(setting: Setting<T>) => T | undefined): LimitsConfig {
  return {
    rateLimit: {
      perMinute: read(settings.perMinute) ?? 0,
      perSecond: read(settings.perSecond) ?? 0,
      store: read(settings.rateLimitStore) ?? "memory",
      replicas: read(settings.replicas) ?? 1,
    },
    connections: {
      maxConnections: read(settings.maxConnections) ?? 0,
      maxConnectionsPerNetwork: read(settings.maxConnectionsPerAddress) ?? 0,
    },
    runningCalls: {
      waiting: read(settings.waitingCalls),
      perPrincipal: read(settings.callsPerPrincipal) ?? 0,
      perTenant: read(settings.callsPerTenant) ?? 0,
      heavy: read(settings.heavyCalls) ?? 0,
      heavyPerTenant: read(settings.heavyCallsPerTenant) ?? 0,
    },
    streams: { perPrincipal: read(settings.streamsPerPrincipal) ?? 0, perTenant: read(settings.streamsPerTenant) ?? 0 },
    holdsPerPrincipal: read(settings.holdsPerPrincipal) ?? 0,
  };
}
