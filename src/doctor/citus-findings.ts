import { type CitusFacts, readCitusFacts } from "../postgres/inspection/citus-facts.js";
import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const DISTRIBUTE = "Run deploy/citus/distribute.sql as the owner, without ON_ERROR_STOP; see deploy/citus/README.md";
const SEND =
  "Run as a superuser: ALTER DATABASE … SET citus.propagate_set_commands = 'local'; then restart the processes of the service";

/**
 * Checks that Citus distributes all tables with tenant data. Also checks that Citus forwards the settings of a
 * transaction to its workers, because one setting names the tenant. Returns no findings if the database has no Citus or
 * no tables with tenant data.
 */
export async function examineCitus(inspection: Inspection): Promise<Finding[]> {
  const facts = await readCitusFacts(inspection);
  return facts === undefined ? [] : judge(facts);
}

function judge({ servers, distributed, local, sendsSettings }: CitusFacts): Finding[] {
  if (distributed === 0) {
    const says = "Citus is installed, but no table is distributed";
    return local.length === 0 ? [] : [warning("citus", says, DISTRIBUTE)];
  }
  const findings: Finding[] = [];
  if (local.length > 0) {
    const says = `${distributed} tables are distributed, but these tables of tenants are not: ${local.join(", ")}`;
    findings.push(failure("citus", says, DISTRIBUTE));
  }
  if (!sendsSettings) {
    const says = "citus.propagate_set_commands is not 'local': workers show no rows and reject writes";
    findings.push(failure("citus", says, SEND));
  }
  if (findings.length > 0) return findings;
  return [ok("citus", `all ${distributed} tables of tenants are distributed over ${servers} servers`)];
}
