import { count, whole } from "./setting-kinds.js";

/** How much is served, of anybody and of one caller, in a time or at once, and how long a call waits. */
export const limitSettings = {
  perMinute: count("RATE_LIMIT_PER_MINUTE", "600", "Requests that a principal may make in a minute."),
  perSecond: count("RATE_LIMIT_PER_SECOND", "50", "Requests that a principal may make in a second."),
  rateLimitStore: {
    name: "RATE_LIMIT_STORE",
    about:
      "Where requests are counted: in memory, by each process for itself, or in PostgreSQL, where all processes share the " +
      "quotas; that takes one connection more of each.",
    takes: "memory or postgres",
    defaultText: "memory",
    parse: (held: string) => (held === "memory" || held === "postgres" ? held : undefined),
  },
  replicas: count(
    "REPLICAS",
    "1",
    "How many processes share the quotas with RATE_LIMIT_STORE=postgres: the more, the smaller the parts that each takes. " +
      "While the database does not answer, each has an equal part.",
  ),
  maxConnections: count(
    "MAX_CONNECTIONS",
    "10000",
    "TCP connections that a listener has at once; when nearly all are taken, those idle longest are closed for new ones.",
  ),
  maxConnectionsPerAddress: count(
    "MAX_CONNECTIONS_PER_ADDRESS",
    "1000",
    "The same from one remote address (IPv6: one /64 network). Behind a proxy, which is one address for all its clients, " +
      "raise it to MAX_CONNECTIONS.",
  ),
  callsPerPrincipal: count("CALLS_PER_PRINCIPAL", "4", "Calls of a principal that are at work at once."),
  callsPerTenant: count(
    "CALLS_PER_TENANT",
    "6",
    "Calls of a tenant that are at work at once; each has one of DATABASE_CONNECTIONS.",
  ),
  waitingCalls: {
    name: "WAITING_CALLS",
    about:
      "Calls of all tenants that wait to be at work at once; what is more is refused with 503, of those tenants first that ask for " +
      "most. Without it ten times as many as there are connections for calls.",
    takes: "a whole number from 1 to 1000000000",
    parse: whole(1, 1_000_000_000),
  },
  wait: {
    name: "WAIT_SECONDS",
    about:
      "How long a call waits for its turn, and then for a connection to the database, before it is answered 503, or 429 where a limit " +
      "of its caller's is in the way; and how long for a part of a quota that processes share, before its process counts by itself.",
    takes: "a whole number of seconds from 1 to 60",
    defaultText: "2",
    parse: whole(1, 60),
  },
  streamsPerPrincipal: count(
    "STREAMS_PER_PRINCIPAL",
    "20",
    "Streams that a principal may have open at once, in each process.",
  ),
  streamsPerTenant: count(
    "STREAMS_PER_TENANT",
    "200",
    "Streams that the principals of a tenant may have open at once, in each process.",
  ),
  heavyCalls: count("HEAVY_CALLS", "3", "Heavy calls (previews, changes of schedules) that are at work at once."),
  heavyCallsPerTenant: count("HEAVY_CALLS_PER_TENANT", "1", "Heavy calls of a tenant that are at work at once."),
} as const;
