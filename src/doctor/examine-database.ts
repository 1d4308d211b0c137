import { type Inspection, openInspection } from "../postgres/inspection/open-inspection.js";
import { findPooler } from "../postgres/inspection/pooler-facts.js";
import { readServerFacts } from "../postgres/inspection/server-facts.js";
import { classifyFailure } from "../postgres/sql-errors.js";
import type { Config } from "../settings/config.js";
import type { DatabaseAddresses, DoctorOptions } from "./doctor-options.js";
import { type Check, type Finding, failure, ok } from "./finding.js";
import { examineJobs } from "./job-findings.js";
import { examineMigrations } from "./migration-findings.js";
import { examinePartitions } from "./partition-findings.js";
import { examineReplica } from "./replica-findings.js";
import { examineOwner, examineRole } from "./role-findings.js";
import { judgeClock, judgeConnections, judgePooler, judgeVersion, judgeWrites } from "./server-findings.js";

/** What there is to say of a database, from the way there to the jobs in it. Ends where nobody is let in. */
export function examineDatabase(
  { url, ownerUrl }: DatabaseAddresses,
  config: Config,
  options: DoctorOptions,
): Promise<Finding[]> {
  return examineAt("database", "DATABASE_URL", url, (inspection) =>
    examineThrough(inspection, { url, ownerUrl }, config, options),
  );
}

async function examineThrough(
  inspection: Inspection,
  { url, ownerUrl }: DatabaseAddresses,
  config: Config,
  { now, replicas }: DoctorOptions,
): Promise<Finding[]> {
  const facts = await readServerFacts(inspection, now);
  const pooler = await findPooler(url, inspection);
  const size = `${Math.round(facts.databaseBytes / 1024 / 1024)} MiB`;
  return [
    ok("database", `${new URL(url).host} lets the service in; the database holds ${size}`),
    judgeVersion(facts),
    ...judgeWrites(facts),
    judgeClock(facts),
    ...(await examineMigrations(inspection)),
    ...(await examineRole(inspection, ownerUrl !== undefined)),
    ...(ownerUrl === undefined ? [] : await examineOwnerAt(ownerUrl, facts.identity, now)),
    judgePooler(pooler, new URL(url)),
    judgeConnections(facts, config, replicas ?? Math.max(config.rateLimit.replicas, facts.processes)),
    ...(await examineJobs(inspection)),
    ...(await examinePartitions(inspection, config.auditRetentionMonths)),
    ...(config.replicaUrl === undefined ? [] : await examineReplicaAt(config.replicaUrl, facts.identity, now)),
  ];
}

function examineOwnerAt(ownerUrl: string, identity: string, now: () => number): Promise<Finding[]> {
  return examineAt("owner", "MIGRATION_DATABASE_URL", ownerUrl, async (owner) => {
    const isSameDatabase = (await readServerFacts(owner, now)).identity === identity;
    return examineOwner(owner, isSameDatabase);
  });
}

function examineReplicaAt(replicaUrl: string, identity: string, now: () => number): Promise<Finding[]> {
  return examineAt("replica", "DATABASE_REPLICA_URL", replicaUrl, (replica) => examineReplica(replica, identity, now));
}

async function examineAt(
  check: Check,
  setting: string,
  url: string,
  look: (inspection: Inspection) => Promise<Finding[]>,
): Promise<Finding[]> {
  const inspection = await openInspection(url).catch((error: unknown) => explainAway(check, setting, error));
  if ("check" in inspection) return [inspection];
  try {
    return await look(inspection);
  } finally {
    await inspection.close();
  }
}

const ADVICE_WHEN_AWAY: Readonly<Record<string, string>> = {
  UNAVAILABLE: "See that the server runs, and that its address and port can be reached from here",
  LOST: "See that the server runs, and that its address and port can be reached from here",
  FULL: "Raise PostgreSQL's max_connections, or lower DATABASE_CONNECTIONS and JOB_CONNECTIONS",
  NO_DATABASE: "Make the database; README says how, under Deploy it",
  REFUSED_ROLE: "Make the role, or put its password right: CREATE ROLE … LOGIN PASSWORD '…'",
};

function explainAway(check: Check, setting: string, error: unknown): Finding {
  const reason = error instanceof Error ? error.message || error.name : String(error);
  const advice = ADVICE_WHEN_AWAY[classifyFailure(error)] ?? `Look at ${setting}`;
  return failure(check, `${setting} leads to no database that lets the service in: ${reason}`, advice);
}
