import type { Setting } from "./setting-kinds.js";
import { settings } from "./settings.js";

/** How much is served, of anybody and of one caller, in a time or at once. */
export interface LimitsConfig {
  /** Quotas of a principal, where they are counted, and how many processes share them. */
  readonly rateLimit: {
    readonly perMinute: number;
    readonly perSecond: number;
    readonly store: "memory" | "postgres";
    readonly replicas: number;
  };
  /** What each listener allows at once, in all and from one remote IPv4 address or IPv6 network of 64 bits. */
  readonly connections: { readonly maxConnections: number; readonly maxConnectionsPerNetwork: number };
  readonly callsAtWork: {
    /** Of all tenants together, that wait; undefined for some for each connection. */
    readonly waiting: number | undefined;
    readonly perPrincipal: number;
    readonly perTenant: number;
    readonly heavy: number;
    readonly heavyPerTenant: number;
  };
  /** Streams that are open at once. */
  readonly streams: { readonly perPrincipal: number; readonly perTenant: number };
}

/** The limits as the settings have them; a wrong setting is 0 or its default here, and told by who reads it. */
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
    callsAtWork: {
      waiting: read(settings.waitingCalls),
      perPrincipal: read(settings.callsPerPrincipal) ?? 0,
      perTenant: read(settings.callsPerTenant) ?? 0,
      heavy: read(settings.heavyCalls) ?? 0,
      heavyPerTenant: read(settings.heavyCallsPerTenant) ?? 0,
    },
    streams: { perPrincipal: read(settings.streamsPerPrincipal) ?? 0, perTenant: read(settings.streamsPerTenant) ?? 0 },
  };
}
