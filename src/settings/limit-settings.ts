import { count, whole } from "./setting-kinds.js";

/** The settings of limits: request rates, connections, running calls, waiting calls and open streams. */
export const limitSettings = {
  perMinute: count(
    "RATE_LIMIT_PER_MINUTE",
    "600",
    "Requests of a principal in a minute. On a page or in a batch, each 50 rows count as one.",
  ),
  perSecond: count("RATE_LIMIT_PER_SECOND", "50", "Requests of a principal in a second."),
  rateLimitStore: {
    name: "RATE_LIMIT_STORE",
    about:
      "Where requests are counted: in each process, or in PostgreSQL for all processes, over one more connection of " +
      "each.",
    takes: "memory or postgres",
    defaultText: "memory",
    parse: (held: string) => (held === "memory" || held === "postgres" ? held : undefined),
  },
  replicas: count("REPLICAS", "1", "Number of processes that share the quotas with RATE_LIMIT_STORE=postgres."),
  maxConnections: count(
    "MAX_CONNECTIONS",
    "10000",
    "TCP connections of a listener. Near the limit, those idle longest are closed for new ones.",
  ),
  maxConnectionsPerAddress: count(
    "MAX_CONNECTIONS_PER_ADDRESS",
    "1000",
    "TCP connections of a listener from one IPv4 address or IPv6 /64 network. Behind a proxy set it to " +
      "MAX_CONNECTIONS.",
  ),
  callsPerPrincipal: count("CALLS_PER_PRINCIPAL", "4", "Running calls of a principal, in each process."),
  callsPerTenant: count("CALLS_PER_TENANT", "6", "Running calls of a tenant, in each process."),
  waitingCalls: {
    name: "WAITING_CALLS",
    about:
      "Calls that wait to run, in each process; more are rejected with 503. Without it ten for each of " +
      "DATABASE_CONNECTIONS.",
    takes: "a whole number from 1 to 1000000000",
    parse: whole(1, 1_000_000_000),
  },
  wait: {
    name: "WAIT_SECONDS",
    about:
      "How long a call waits for its turn, and then for a database connection, before 503 or 429. Also how long a " +
      "process waits for its part of a shared quota.",
    takes: "a whole number of seconds from 1 to 60",
    defaultText: "2",
    parse: whole(1, 60),
  },
  streamsPerPrincipal: count("STREAMS_PER_PRINCIPAL", "20", "Open streams of a principal, in each process."),
  streamsPerTenant: count("STREAMS_PER_TENANT", "200", "Open streams of a tenant, in each process."),
  heavyCalls: count("HEAVY_CALLS", "3", "Running heavy calls (previews, changes of schedules), in each process."),
  heavyCallsPerTenant: count("HEAVY_CALLS_PER_TENANT", "1", "Running heavy calls of a tenant, in each process."),
} as const;
