import { type Inspection, openInspection } from "../postgres/inspection/open-inspection.js";
import { findPooler } from "../postgres/inspection/pooler-facts.js";
import { readServerFacts } from "../postgres/inspection/server-facts.js";
import type { Config } from "../settings/config.js";
import { examineCitus } from "./citus-findings.js";
import { explainConnectionFailure } from "./connection-failure.js";
import type { DatabaseAddresses, DoctorOptions } from "./doctor-options.js";
import { type Check, type Finding, failure, ok } from "./finding.js";
import { type Identity, judgeIdentity } from "./identity-findings.js";
import { examineJobs } from "./job-findings.js";
import { examineMigrations } from "./migration-findings.js";
import { examinePartitions } from "./partition-findings.js";
import { examineReplica } from "./replica-findings.js";
import { examineOwner, examineRole } from "./role-findings.js";
import { examineSchema } from "./schema-findings.js";
import { judgeClock, judgeConnections, judgePooler, judgeVersion, judgeWrites } from "./server-findings.js";
import { judgeSettings } from "./setting-findings.js";

/**
 * Checks a database. Also checks its replica and the role that owns its tables, if they are configured. Returns the
 * findings. If the connection to the database fails, returns only a finding about the connection.
 */
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
  const pooler = await findPooler(url, inspection).catch((error: unknown) =>
    explainAway("connections", "DATABASE_URL", url, error),
  );
  const size = `${Math.round(facts.databaseBytes / 1024 / 1024)} MiB`;
  return [
    ok("database", `${new URL(url).host} accepts the service; the database size is ${size}`),
    judgeVersion(facts),
    ...judgeWrites(facts),
    ...judgeSettings(facts.settings),
    judgeClock(facts),
    ...(await examineMigrations(inspection)),
    ...(await examineSchema(inspection)),
    ...(await examineRole(inspection, ownerUrl !== undefined)),
    ...(ownerUrl === undefined ? [] : await examineOwnerAt(ownerUrl, facts.identity, now)),
    typeof pooler === "string" ? judgePooler(pooler, new URL(url)) : pooler,
    judgeConnections(facts, config, replicas ?? Math.max(config.rateLimit.replicas, facts.processes)),
    ...(await examineJobs(inspection)),
    ...(await examinePartitions(inspection, config.auditRetentionMonths)),
    ...(await examineCitus(inspection)),
    ...(config.replicaUrl === undefined ? [] : await examineReplicaAt(config.replicaUrl, facts.identity, now)),
  ];
}

const OWNER = { check: "owner", setting: "MIGRATION_DATABASE_URL", advice: "Set both to the same database" } as const;

function examineOwnerAt(ownerUrl: string, identity: Identity, now: () => number): Promise<Finding[]> {
  return examineAt("owner", "MIGRATION_DATABASE_URL", ownerUrl, async (owner) => {
    const { identity: ofOwner } = await readServerFacts(owner, now);
    return examineOwner(owner, judgeIdentity(OWNER, identity, ofOwner));
  });
}

function examineReplicaAt(replicaUrl: string, identity: Identity, now: () => number): Promise<Finding[]> {
  return examineAt("replica", "DATABASE_REPLICA_URL", replicaUrl, (replica) => examineReplica(replica, identity, now));
}

async function examineAt(
  check: Check,
  setting: string,
  url: string,
  look: (inspection: Inspection) => Promise<Finding[]>,
): Promise<Finding[]> {
  const inspection = await openInspection(url).catch((error: unknown) => explainAway(check, setting, url, error));
  if ("check" in inspection) return [inspection];
  try {
    return await look(inspection);
  } finally {
    await inspection.close();
  }
}

function explainAway(check: Check, setting: string, url: string, error: unknown): Finding {
  const { says, advice } = explainConnectionFailure(error, new URL(url));
  return failure(check, `${setting}: ${says}`, advice);
}
