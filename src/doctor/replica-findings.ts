import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { readServerFacts } from "../postgres/inspection/server-facts.js";
import { type Finding, failure, ok } from "./finding.js";
import { type Identity, judgeIdentity } from "./identity-findings.js";
import { examineRole } from "./role-findings.js";

const REPLICA = {
  check: "replica",
  setting: "DATABASE_REPLICA_URL",
  advice: "Set it to a streaming replica of the server in DATABASE_URL; until then reads use the primary",
} as const;

/**
 * Returns one finding: whether reads can use the replica. The replica must be a standby of the same database. On the
 * replica, the service's role must have exactly the rights that the service uses. The role must not own tables, be a
 * superuser or bypass row-level security.
 */
export async function examineReplica(
  inspection: Inspection,
  primaryIdentity: Identity,
  now: () => number,
): Promise<Finding[]> {
  const { identity, takesWrites } = await readServerFacts(inspection, now);
  const difference = judgeIdentity(REPLICA, primaryIdentity, identity);
  if (difference !== undefined) return [difference];
  if (takesWrites) {
    const advice = "Set it to a standby; until then reads use the primary";
    return [failure("replica", "DATABASE_REPLICA_URL points to a server that accepts writes", advice)];
  }
  const role = (await examineRole(inspection, true)).find(
    ({ check, level }) => check === "role" && level === "failure",
  );
  if (role !== undefined) return [{ ...role, check: "replica" }];
  return [ok("replica", "a standby of the same database accepts the service")];
}
