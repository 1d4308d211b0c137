import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type PartitionFacts, readPartitionFacts } from "../postgres/inspection/partition-facts.js";
import { type Finding, ok, warning } from "./finding.js";

const AHEAD =
  "Check that processes are running and what they log about background jobs, which create partitions three months ahead; rows without a partition are kept too";
const REST =
  "A clock ran ahead, or no partition was created for their months; see Rows without a partition in docs/operate/deploy.md";
const RETENTION = "Run migrate with MIGRATION_DATABASE_URL to apply the setting, or change AUDIT_RETENTION_MONTHS here";

/**
 * Checks the tables that are partitioned by month. Returns no findings if the state of the tables cannot be read.
 * - Partitions must exist for the next four weeks.
 * - The default partition must be empty. A deleted row counts until the next vacuum.
 * - The audit trail must be kept for `auditRetentionMonths` (undefined: forever).
 */
export async function examinePartitions(
  inspection: Inspection,
  auditRetentionMonths: number | undefined,
): Promise<Finding[]> {
  const facts = await readPartitionFacts(inspection).catch(() => []);
  return facts.length === 0 ? [] : judge(facts, auditRetentionMonths);
}

function judge(facts: readonly PartitionFacts[], auditRetentionMonths: number | undefined): Finding[] {
  const findings: Finding[] = [];
  const behind = facts.filter(({ isAhead }) => !isAhead).map(({ table }) => table);
  if (behind.length > 0)
    findings.push(warning("partitions", `not created for the next four weeks in ${behind.join(", ")}`, AHEAD));
  const crowded = facts.filter(({ hasRest }) => hasRest).map(({ table }) => table);
  if (crowded.length > 0)
    findings.push(warning("partitions", `rows without a partition in ${crowded.join(", ")}`, REST));
  const kept = facts.find(({ table }) => table === "audit_events")?.keptMonths;
  if (kept !== auditRetentionMonths) {
    const says = `the audit trail is kept ${lengthOf(kept)}, but AUDIT_RETENTION_MONTHS says ${lengthOf(auditRetentionMonths)}`;
    findings.push(warning("partitions", says, RETENTION));
  }
  if (findings.length > 0) return findings;
  const until = new Date(Math.min(...facts.map(({ madeBefore }) => madeBefore.getTime())));
  const place = facts.every(({ isDistributed }) => isDistributed) ? "distributed by Citus" : "not distributed";
  return [
    ok("partitions", `created until ${until.toISOString()}, ${place}; the audit trail is kept ${lengthOf(kept)}`),
  ];
}

function lengthOf(months: number | undefined): string {
  return months === undefined ? "forever" : `for ${months} months`;
}
