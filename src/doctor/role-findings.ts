import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type RoleFacts, readRoleFacts, type TableFacts } from "../postgres/inspection/role-facts.js";
import { erasableColumns, serviceRights } from "../postgres/migration/service-rights.js";
import { type Finding, failure, ok, warning } from "./finding.js";

const MIGRATE = "Run migrate with MIGRATION_DATABASE_URL, which grants missing rights and revokes excess ones";
const PART =
  "Use separate roles: see Owner and service in docs/operate/deploy.md; until then nothing protects the audit trail from the service";

/**
 * Returns findings about the service's role and row-level security:
 * - Row-level security must apply to the role. It must be enabled and forced on all tables with tenant data.
 * - The role must have exactly the rights that the service uses, to the tables that the migrations created, to the job
 *   queue and to schemas.
 * - A role that owns tables is a failure if there is a separate owner (`hasOwner`), otherwise a warning.
 */
export async function examineRole(inspection: Inspection, hasOwner: boolean): Promise<Finding[]> {
  const role = await readRoleFacts(inspection);
  return [judgeRole(role, hasOwner), ...judgeRowSecurity(role)];
}

/**
 * Checks that the owner's role owns all tables that the migrations created. Returns only `difference` if it is defined:
 * the owner's role then uses another database than the service, or an unknown one.
 */
export async function examineOwner(inspection: Inspection, difference: Finding | undefined): Promise<Finding[]> {
  if (difference !== undefined) return [difference];
  const { name, tables } = await readRoleFacts(inspection);
  const ours = tables.filter(isOfService);
  const foreign = ours.filter(({ isOwned }) => !isOwned).map((table) => table.name);
  if (foreign.length === 0) return [ok("owner", `the role ${name} owns the ${ours.length} tables`)];
  const advice = `Run as a superuser in this database: REASSIGN OWNED BY … TO "${name}"`;
  return [failure("owner", `the role ${name} does not own ${foreign.join(", ")}`, advice)];
}

function judgeRole(
  { name, isSuperuser, bypassesRowSecurity, tables, closedFunctions, openSchemas, closedQueueTables }: RoleFacts,
  hasOwner: boolean,
): Finding {
  if (isSuperuser || bypassesRowSecurity) {
    const what = isSuperuser ? "is a superuser" : "has BYPASSRLS";
    const advice =
      "Use a role that is neither superuser nor BYPASSRLS: row-level security does not apply to this one, and the service does not start with it";
    return failure("role", `the service's role ${name} ${what}`, advice);
  }
  const owned = tables.filter(({ isOwned }) => isOwned);
  if (owned.length > 0) {
    const says = `the service's role ${name} owns ${owned.length} of the tables, so it can change and truncate them`;
    return hasOwner ? failure("role", says, PART) : warning("role", says, PART);
  }
  const differences = [
    ...tables.filter(isOfService).flatMap(differencesOf),
    ...closedFunctions.map((one) => `lacks EXECUTE on ${one}`),
    ...closedQueueTables.map((one) => `cannot use graphile_worker.${one}: it lacks rights or a policy`),
    ...openSchemas.map((one) => `may create objects in the schema ${one}, which it must not`),
  ];
  if (differences.length > 0) return failure("role", `the service's role ${name} ${differences.join("; ")}`, MIGRATE);
  return ok("role", `the service's role ${name} owns nothing and has exactly the rights that it uses`);
}

/** Returns whether the migrations created the table, or it is a partition of such a table. */
function isOfService({ root }: TableFacts): boolean {
  return root in serviceRights;
}

function differencesOf({ name, rights }: TableFacts): string[] {
  const erasable = (erasableColumns[name] ?? []).map((column) => `UPDATE (${column})`);
  const wanted: readonly string[] = [...(serviceRights[name] ?? []), ...erasable];
  const missing = wanted.filter((right) => !rights.includes(right));
  const excess = rights.filter((right) => !wanted.includes(right));
  return [
    ...(missing.length > 0 ? [`lacks ${missing.join(", ")} on ${name}`] : []),
    ...(excess.length > 0 ? [`has ${excess.join(", ")} on ${name}, which it must not have`] : []),
  ];
}

function judgeRowSecurity({ tables }: RoleFacts): Finding[] {
  const ofTenants = tables.filter(({ hasTenants }) => hasTenants);
  if (ofTenants.length === 0) return [];
  const open = ofTenants.filter(({ isSecured }) => !isSecured).map(({ name }) => name);
  if (open.length === 0) {
    return [ok("row security", `enabled, forced and with a policy in all ${ofTenants.length} tables with tenant data`)];
  }
  const advice =
    "Run as the owner: ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; if a policy is missing, restore the schema";
  return [failure("row security", `not enabled, not forced or without a policy in ${open.join(", ")}`, advice)];
}
