import { readCatalog } from "../postgres/inspection/catalog.js";
import type { Inspection } from "../postgres/inspection/open-inspection.js";
import { type RecordedObject, readRecordedCatalog } from "../postgres/inspection/recorded-catalog.js";
import { readSchemaFacts } from "../postgres/inspection/schema-facts.js";
import { type Finding, failure, ok, warning } from "./finding.js";

/** An object of the catalog that differs from the migrations. */
interface Difference {
  /** `table`, `column`, `constraint`, `index`, `policy`, `trigger` or `function`. */
  readonly kind: string;
  /** The key in the catalog: kind, table and name, such as `column patients.phone`. A function has no table. */
  readonly object: string;
  readonly table: string;
  /** The name without the name of the table; empty for a table. The name of a function includes its parameter types. */
  readonly name: string;
  /** The object as the migrations create it; undefined if no migration creates it. */
  readonly recorded: RecordedObject | undefined;
  /** The definition in the catalog; undefined if the object is missing. */
  readonly found: string | undefined;
}

/**
 * Compares the catalog with the objects that the migrations created. Returns no findings if the schema is not up to
 * date or the migrations cannot be read. The check `migrations` reports these cases. If a newer release has
 * migrated the schema, compares nothing and returns a finding that says so.
 */
export async function examineSchema(inspection: Inspection): Promise<Finding[]> {
  const facts = await readSchemaFacts(inspection).catch(() => undefined);
  if (facts === undefined || facts.pending.length > 0) return [];
  if (facts.newer.length > 0) {
    return [ok("schema", "not compared, because a newer release migrated it; run the doctor of that release")];
  }
  const recorded = await readRecordedCatalog();
  const differences = compare(recorded, await readCatalog(inspection));
  if (differences.length > 0) return differences.map(judge);
  return [ok("schema", `all ${recorded.size} objects of the schema are as the migrations created them`)];
}

/**
 * Returns the objects that are missing, added or changed. Ignores tables that no migration created, and their columns,
 * indexes and other parts. For a missing table, returns only the table itself, not its parts.
 */
function compare(recorded: ReadonlyMap<string, RecordedObject>, found: ReadonlyMap<string, string>): Difference[] {
  return [...new Set([...recorded.keys(), ...found.keys()])]
    .filter((object) => recorded.get(object)?.definition !== found.get(object))
    .map((object) => differenceOf(object, recorded.get(object), found.get(object)))
    .filter(({ kind, table }) => {
      const isWhole = recorded.has(`table ${table}`) && found.has(`table ${table}`);
      return kind === "function" || isWhole || (kind === "table" && recorded.has(`table ${table}`));
    });
}

function differenceOf(object: string, recorded: RecordedObject | undefined, found: string | undefined): Difference {
  const [kind = "", ...rest] = object.split(" ");
  if (kind === "function") return { kind, object, table: "", name: rest.join(" "), recorded, found };
  const [table = "", name = ""] = (rest[0] ?? "").split(".");
  return { kind, object, table, name, recorded, found };
}

function judge(difference: Difference): Finding {
  const level = isGuarantee(difference) ? failure : warning;
  const { object, recorded, found } = difference;
  if (recorded === undefined)
    return level("schema", `${object} was not created by a migration: ${found}`, removal(difference));
  if (found === undefined) {
    return level("schema", `${object} is missing; ${recorded.migration} created it`, creation(difference, recorded));
  }
  const says = `${object} is not as ${recorded.migration} created it; it is: ${found}`;
  return level("schema", says, repair(difference, recorded, found));
}

/**
 * Whether a difference is a failure. These differences are only warnings:
 * - an added, missing or changed index that is unique neither in the catalog nor in the migrations. It affects only
 *   speed.
 * - an added function, because an operator may have added it on purpose
 * - an added column that an INSERT need not set, for the same reason
 *
 * All others are failures. For example, an added unique index can make the service's writes fail.
 */
function isGuarantee({ kind, recorded, found = "" }: Difference): boolean {
  if (kind === "index") return [recorded?.definition, found].some((each) => each?.startsWith("CREATE UNIQUE"));
  if (recorded !== undefined) return true;
  if (kind === "column") return found.endsWith(" NOT NULL") && !/ DEFAULT | GENERATED /.test(found);
  return kind !== "function";
}

const RESTORE = "Restore the database from an earlier backup: see Restore in docs/operate/deploy.md";

const DROPS: Readonly<Record<string, (difference: Difference) => string>> = {
  column: ({ table, name }) => `ALTER TABLE ${table} DROP COLUMN "${name}"`,
  constraint: ({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT "${name}"`,
  index: ({ name }) => `DROP INDEX "${name}"`,
  policy: ({ table, name }) => `DROP POLICY "${name}" ON ${table}`,
  trigger: ({ table, name }) => `DROP TRIGGER "${name}" ON ${table}`,
  function: ({ name }) => `DROP FUNCTION ${name}`,
};

function removal(difference: Difference): string {
  const partition = / in partition (\w+)$/.exec(difference.object)?.[1];
  const drop = DROPS[difference.kind]?.({ ...difference, table: partition ?? difference.table });
  return isGuarantee(difference)
    ? `Run as the owner: ${drop}`
    : `Unless it was added on purpose, run as the owner: ${drop}`;
}

function creation({ kind }: Difference, { definition, migration }: RecordedObject): string {
  if (kind === "table" || kind === "column") return RESTORE;
  if (kind === "function") return `Run as the owner: CREATE FUNCTION as in ${migration}.sql`;
  if (kind === "policy") return `Run as the owner: ${definition}`;
  return `Correct the rows that violate it, then run as the owner: ${definition}`;
}

/** The suffixes that {@link readCatalog} adds to the definition of a broken object, and the repair for each suffix. */
const STATES: readonly (readonly [string, (difference: Difference) => string])[] = [
  [" (invalid)", ({ name }) => `Run as the owner: REINDEX INDEX CONCURRENTLY "${name}"`],
  [" (its index is invalid)", ({ name }) => `Run as the owner when there is little traffic: REINDEX INDEX "${name}"`],
  [" (its triggers are disabled)", ({ table }) => `Run as a superuser: ALTER TABLE ${table} ENABLE TRIGGER ALL`],
  [" NOT VALID", ({ table, name }) => `Run as the owner: ALTER TABLE ${table} VALIDATE CONSTRAINT "${name}"`],
];

function repair(difference: Difference, { definition, migration }: RecordedObject, found: string): string {
  const state = STATES.find(([text]) => found === `${definition}${text}`);
  if (state !== undefined) return state[1](difference);
  if (difference.kind === "table") return RESTORE;
  if (difference.kind === "column")
    return `Change the column as the owner with ALTER TABLE, so that it is: ${definition}`;
  if (difference.kind === "function") return `Run as the owner: CREATE OR REPLACE FUNCTION as in ${migration}.sql`;
  return `Run as the owner in one transaction: ${DROPS[difference.kind]?.(difference)}; ${definition}`;
}
