import type { Inspection } from "../postgres/inspection/open-inspection.js";
import {
  readSchemaAccess,
  readSchemaFacts,
  type SchemaAccess,
  type SchemaFacts,
} from "../postgres/inspection/schema-facts.js";
import { classifyFailure } from "../postgres/sql-errors.js";
import { type Finding, failure, ok } from "./finding.js";

const MIGRATE = "Run migrate (node dist/main.js migrate) with MIGRATION_DATABASE_URL, the URL of the tables' owner";

const FIND =
  "Set a search_path with public where it was set: ALTER ROLE … SET search_path = public, ALTER DATABASE … or postgresql.conf";

/**
 * Returns findings about the schema:
 * - The role must find the tables of the schema `public`. If it does not, returns only this finding.
 * - All migrations of this release and of the job queue must be applied.
 * - Each applied migration of a newer release must be marked as compatible with this release.
 */
export async function examineMigrations(inspection: Inspection): Promise<Finding[]> {
  const access = await readSchemaAccess(inspection);
  if (!access.isFound) return [judgeAccess(access)];
  try {
    return judgeMigrations(await readSchemaFacts(inspection));
  } catch (error) {
    if (classifyFailure(error) !== "FORBIDDEN") throw error;
    return [failure("migrations", "the role may not read the list of applied migrations", MIGRATE)];
  }
}

function judgeAccess({ isUsable, searchPath }: SchemaAccess): Finding {
  if (!isUsable) return failure("migrations", "the role may not use the schema public", MIGRATE);
  const says = `the role does not find the tables of the schema public: its search_path is ${searchPath}`;
  return failure("migrations", says, FIND);
}

function judgeMigrations({ own, pending, newer, incompatible, hasJobQueue }: SchemaFacts): Finding[] {
  const findings: Finding[] = [];
  if (pending.length > 0) findings.push(failure("migrations", `not applied yet: ${rangeOf(pending)}`, MIGRATE));
  if (!hasJobQueue) findings.push(failure("migrations", "the job queue's migrations are not applied yet", MIGRATE));
  if (incompatible !== undefined) {
    const says = `${incompatible} is of a newer release and is not marked as compatible with this release, whose last migration is ${own}`;
    findings.push(failure("migrations", says, "Run the release that contains it, or a newer one"));
  }
  if (findings.length > 0) return findings;
  if (newer.length === 0) return [ok("migrations", `all are applied, up to ${own}`)];
  return [ok("migrations", `all are applied, and newer compatible ones: ${newer.join(", ")}`)];
}

function rangeOf(names: readonly string[]): string {
  return names.length > 3 ? `${names.length} from ${names[0]} to ${names.at(-1)}` : names.join(", ");
}
