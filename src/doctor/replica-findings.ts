import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { readServerFacts } from "../postgres/inspection/server-facts.js";
import { type Finding, failure, ok } from "./finding.js";
import { examineRole } from "./role-findings.js";

/** Whether reads can go to a replica: it is a standby of the same database, and row-level security binds the role there. */
export async function examineReplica(
  inspection: Inspection,
  primaryIdentity: string,
  now: () => number,
): Promise<Finding[]> {
  const { identity, takesWrites } = await readServerFacts(inspection, now);
  if (identity !== primaryIdentity) {
    const advice = "Let it lead to a streaming replica of the server in DATABASE_URL; until then the primary reads";
    return [failure("replica", "DATABASE_REPLICA_URL leads to a copy of another database than DATABASE_URL", advice)];
  }
  if (takesWrites) {
    const advice = "Let it lead to a standby; until then the primary reads";
    return [failure("replica", "DATABASE_REPLICA_URL leads to a server that takes writes", advice)];
  }
  const role = (await examineRole(inspection, true)).find(
    ({ check, level }) => check === "role" && level === "failure",
  );
  if (role !== undefined) return [{ ...role, check: "replica" }];
  return [ok("replica", "a standby of the same database lets the service in")];
}
