import type { Pooler } from "../postgres/inspection/pooler-facts.js";
import type { ServerFacts } from "../postgres/inspection/server-facts.js";
import type { Config } from "../settings/config.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const OLDEST_VERSION = 150_000;
const NOTICED_MS = 1_000;
/**
 * The maximum difference between the clocks of the database and of this machine, in milliseconds. A larger difference
 * is a failure. The check of access tokens also tolerates an issuer's clock that is ahead by up to this much.
 */
const TOLERATED_MS = 5_000;
/**
 * The number of connections of a process besides those for calls, jobs and shared quotas. One is for the readiness
 * probe. One receives the notifications of new events.
 */
const OTHER_CONNECTIONS = 2;

/** Checks that PostgreSQL is version 15 or newer. */
export function judgeVersion({ versionNumber, version }: Pick<ServerFacts, "version" | "versionNumber">): Finding {
  if (versionNumber >= OLDEST_VERSION) return ok("version", `PostgreSQL ${version}`);
  return failure("version", `PostgreSQL ${version}`, "The service needs 15 or newer: upgrade PostgreSQL");
}

/** Returns a failure if the database rejects writes, otherwise no findings. */
export function judgeWrites({ takesWrites }: Pick<ServerFacts, "takesWrites">): Finding[] {
  if (takesWrites) return [];
  const advice = "Set DATABASE_URL to the primary; also check default_transaction_read_only";
  return [failure("database", "the database is read-only: it is a standby, or a setting forbids writes", advice)];
}

/**
 * Compares the clocks of the database and this machine. Returns a warning above 1 s and a failure above 5 s. Tokens are
 * checked with this machine's clock; retention uses the database's clock.
 */
export function judgeClock({ clockAheadMs }: Pick<ServerFacts, "clockAheadMs">): Finding {
  const seconds = (Math.abs(clockAheadMs) / 1_000).toFixed(1);
  const says = `the database's clock is ${seconds} s ${clockAheadMs < 0 ? "behind" : "ahead of"} this machine's`;
  const advice = "Synchronize both with the same time servers (NTP)";
  if (Math.abs(clockAheadMs) > TOLERATED_MS) return failure("clock", says, advice);
  return Math.abs(clockAheadMs) > NOTICED_MS ? warning("clock", says, advice) : ok("clock", says);
}

/**
 * Returns the finding about a connection pooler between this machine and PostgreSQL. For a pooler in transaction mode,
 * the finding says that the pooler does not pass notifications. The finding is a warning if `url` leaves named prepared
 * statements on, because the pooler can lose these statements.
 */
export function judgePooler(pooler: Pooler, url: URL): Finding {
  if (pooler === "NONE") return ok("pooler", "none detected");
  if (pooler === "SESSIONS") return ok("pooler", "one detected, but not in transaction mode");
  const says = "one in transaction mode detected: it does not pass notifications, so jobs and events are polled";
  if (url.searchParams.get("prepared_statements") === "false") return ok("pooler", says);
  const advice = "Append ?prepared_statements=false to DATABASE_URL, unless the pooler supports prepared statements";
  return warning("pooler", says, advice);
}

/**
 * Checks that the role may open enough connections for all processes. Warns if the connections are too few for twice as
 * many processes, because a rollout runs the processes of two releases.
 */
export function judgeConnections(
  { allowedConnections }: Pick<ServerFacts, "allowedConnections">,
  { databaseConnections: { calls, jobs }, rateLimit }: Pick<Config, "databaseConnections" | "rateLimit">,
  replicas: number,
): Finding {
  const each = calls + jobs + OTHER_CONNECTIONS + (rateLimit.store === "postgres" ? 1 : 0);
  const needed = each * replicas;
  const processes = replicas === 1 ? "1 process" : `${replicas} processes`;
  const says = `${processes} with ${each} connections each need ${needed}; the role may open ${allowedConnections}`;
  const advice = "Raise max_connections or lower DATABASE_CONNECTIONS; with a pooler its own limits apply";
  if (needed > allowedConnections) return failure("connections", says, advice);
  if (2 * needed <= allowedConnections) return ok("connections", says);
  return warning("connections", `${says}, too few for two releases during a rollout`, advice);
}
