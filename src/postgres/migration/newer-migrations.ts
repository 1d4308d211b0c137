import type { Knex } from "knex";

const STATED = /^-- Compatible from: (\S+)$/m;

/**
 * Reads the oldest compatible release from the text of a migration. This release and newer ones can serve during and
 * after the migration. Returns the name of the release's last migration. Returns undefined if the text states no
 * release: then no older release can serve.
 */
export function oldestReleaseFor(sql: string): string | undefined {
  return STATED.exec(sql)?.[1];
}

/**
 * Stores the oldest release that a migration's text states as compatible. Releases without this text then read the
 * stored value. Stores nothing if the text states no release.
 */
export async function recordCompatibility(database: Knex, migration: string, sql: string): Promise<void> {
  const oldest = oldestReleaseFor(sql);
  if (oldest === undefined) return;
  await database("schema_compatibility").insert({ migration, oldest_release: oldest });
}

/**
 * Returns whether the schema has migrations that this release does not have, as during a rollout or after a rollback.
 * Throws if one of them does not declare itself compatible with this release.
 */
export async function hasNewerMigrations(
  database: Knex,
  applied: readonly string[],
  known: readonly string[],
): Promise<boolean> {
  const newer = applied.filter((name) => !known.includes(name));
  if (newer.length === 0) return false;
  const own = known.at(-1) ?? "";
  const stated: Compatibility[] = await database("schema_compatibility").select("migration", "oldest_release");
  if (incompatibleMigration(newer, stated, own) === undefined) return true;
  const oldest = oldestReleaseWith(newer, (name) => stated.find(({ migration }) => migration === name)?.oldest_release);
  throw new Error(
    `The database is at migration ${newer.toSorted().at(-1)} of a newer release. This release ends with migration ${own} and ` +
      `cannot serve it. The oldest release that can serve it ends with migration ${oldest}: start that one or a newer one. To stay with ` +
      'this release, restore a backup from before the upgrade; docs/operate/deploy.md, "Rollback".',
  );
}

/**
 * Returns the last migration of the oldest release that can serve a database with these migrations. Returns undefined
 * for an empty list. `statedBy` returns the oldest release that a migration states. A migration that states none is
 * compatible only with releases that have it.
 */
export function oldestReleaseWith(
  migrations: readonly string[],
  statedBy: (migration: string) => string | undefined,
): string | undefined {
  return migrations
    .map((name) => statedBy(name) ?? name)
    .toSorted()
    .at(-1);
}

/** A row of `schema_compatibility`: the last migration of the oldest release that a migration is compatible with. */
export interface Compatibility {
  readonly migration: string;
  readonly oldest_release: string;
}

/**
 * Returns the first newer migration that does not declare itself compatible with a release; undefined if there is none.
 * `own` is the last migration of that release.
 */
export function incompatibleMigration(
  newer: readonly string[],
  stated: readonly Compatibility[],
  own: string,
): string | undefined {
  const compatible = new Set(stated.filter((row) => row.oldest_release <= own).map(({ migration }) => migration));
  return newer.find((name) => !compatible.has(name));
}
