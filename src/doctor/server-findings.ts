import type { Pooler } from "../postgres/inspection/pooler-facts.js";
import type { ServerFacts } from "../postgres/inspection/server-facts.js";
import type { Config } from "../settings/config.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const OLDEST_VERSION = 150_000;
const NOTICED_MS = 1_000;
/** What access tokens may be ahead of the service's clock. */
const TOLERATED_MS = 5_000;
/** Beside those for calls and for jobs, and for quotas that are shared: one for readiness and one for events. */
const OTHER_CONNECTIONS = 2;

/** PostgreSQL 15 or newer. */
export function judgeVersion({ versionNumber, version }: Pick<ServerFacts, "version" | "versionNumber">): Finding {
  if (versionNumber >= OLDEST_VERSION) return ok("version", `PostgreSQL ${version}`);
  return failure("version", `PostgreSQL ${version}`, "The service needs 15 or newer: move the data to one");
}

/** Nothing where the database takes writes. */
export function judgeWrites({ takesWrites }: Pick<ServerFacts, "takesWrites">): Finding[] {
  if (takesWrites) return [];
  const advice = "Let DATABASE_URL lead to the primary; look at default_transaction_read_only too";
  return [failure("database", "the database takes no writes, as a standby or by a setting", advice)];
}

/** Tokens are judged by this machine's clock, what is kept and purged by the database's. */
export function judgeClock({ clockAheadMs }: Pick<ServerFacts, "clockAheadMs">): Finding {
  const seconds = (Math.abs(clockAheadMs) / 1_000).toFixed(1);
  const says = `the database's clock is ${seconds} s ${clockAheadMs < 0 ? "behind" : "ahead of"} this machine's`;
  const advice = "Let both follow the same time servers (NTP)";
  if (Math.abs(clockAheadMs) > TOLERATED_MS) return failure("clock", says, advice);
  return Math.abs(clockAheadMs) > NOTICED_MS ? warning("clock", says, advice) : ok("clock", says);
}

/** A pooler that gives transactions any connection loses prepared statements and notifications. */
export function judgePooler(pooler: Pooler, url: URL): Finding {
  if (pooler === "NONE") return ok("pooler", "none is noticed");
  if (pooler === "SESSIONS") return ok("pooler", "one is noticed, and none that works by transactions");
  const says =
    "one in transaction mode is noticed: notifications do not pass it, so that jobs and events are polled for";
  if (url.searchParams.get("prepared_statements") === "false") return ok("pooler", says);
  const advice = "Put ?prepared_statements=false at the end of DATABASE_URL, unless it keeps prepared statements";
  return warning("pooler", says, advice);
}

/** Whether the server has connections for all processes, and for those of another release beside them. */
export function judgeConnections(
  { allowedConnections }: Pick<ServerFacts, "allowedConnections">,
  { databaseConnections: { calls, jobs }, rateLimit }: Pick<Config, "databaseConnections" | "rateLimit">,
  replicas: number,
): Finding {
  const each = calls + jobs + OTHER_CONNECTIONS + (rateLimit.store === "postgres" ? 1 : 0);
  const needed = each * replicas;
  const processes = replicas === 1 ? "1 process" : `${replicas} processes`;
  const says = `${processes} of ${each} connections need ${needed}; the role may have ${allowedConnections} here`;
  const advice = "Raise max_connections, or lower DATABASE_CONNECTIONS; behind a pooler its own limits count";
  if (needed > allowedConnections) return failure("connections", says, advice);
  if (2 * needed <= allowedConnections) return ok("connections", says);
  return warning("connections", `${says}, too few for both releases of a rollout`, advice);
}
