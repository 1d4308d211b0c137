import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type PartitionFacts, readPartitionFacts } from "../postgres/inspection/partition-facts.js";
import { type Finding, ok, warning } from "./finding.js";

const AHEAD =
  "See that processes run and what they log of background jobs: partitions are made three months ahead; what has none is kept all the same";
const REST =
  "They are of a clock that ran ahead, or of months for which no partition was made; docs/operations.md says more, under Rows without a partition";
const RETENTION = "Run migrate with MIGRATION_DATABASE_URL, which makes it so, or change AUDIT_RETENTION_MONTHS here";

/**
 * Whether tables that are parted by month have partitions ahead and all rows in them, and are kept for as long as the settings
 * say; nothing where there are none yet that the role can see.
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
    findings.push(warning("partitions", `none for the next four weeks in ${behind.join(", ")}`, AHEAD));
  const crowded = facts.filter(({ hasRest }) => hasRest).map(({ table }) => table);
  if (crowded.length > 0) findings.push(warning("partitions", `rows that have none in ${crowded.join(", ")}`, REST));
  const kept = facts.find(({ table }) => table === "audit_events")?.keptMonths;
  if (kept !== auditRetentionMonths) {
    const says = `the audit trail is kept ${lengthOf(kept)}, and AUDIT_RETENTION_MONTHS says ${lengthOf(auditRetentionMonths)}`;
    findings.push(warning("partitions", says, RETENTION));
  }
  if (findings.length > 0) return findings;
  const until = new Date(Math.min(...facts.map(({ madeBefore }) => madeBefore.getTime())));
  return [
    ok("partitions", `there for what is made before ${until.toISOString()}; the audit trail is kept ${lengthOf(kept)}`),
  ];
}

function lengthOf(months: number | undefined): string {
  return months === undefined ? "for good" : `for ${months} months`;
}
