import type { Knex } from "knex";

const STATED = /^-- Compatible from: (\S+)$/m;

/**
 * Reads the oldest compatible release from the text of a migration. That release and newer ones can serve during and
 * after the migration. Returns the name of that release's last migration. Returns undefined if the text states no
 * release: then no release without the migration can serve.
 */
export function oldestReleaseFor(sql: string): string | undefined {
  return STATED.exec(sql)?.[1];
}

/**
 * Stores the oldest release that can serve with a migration ({@link oldestReleaseFor}) in `schema_compatibility`. Older
 * releases do not have the text of the migration, so they read this table. Stores nothing if the text states no
 * release.
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
 * Finds the oldest release that can serve a database with these migrations. Returns the name of its last migration;
 * undefined for an empty list. `statedBy` returns the result of {@link oldestReleaseFor} for a migration. If the result
 * is undefined, only releases that have this migration can serve.
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

/**
 * A row of `schema_compatibility`. `oldest_release` is the name of the last migration of a release. This release and
 * newer ones can run on a database that has the migration `migration`; older ones cannot.
 */
export interface Compatibility {
  readonly migration: string;
  readonly oldest_release: string;
}

/**
 * Returns the first migration in `newer` that is not compatible with the release whose last migration is `own`. Returns
 * undefined if there is none. A migration is compatible if it has a row in `stated`, and the `oldest_release` of this
 * row is not later than `own`.
 */
export function incompatibleMigration(
  newer: readonly string[],
  stated: readonly Compatibility[],
  own: string,
): string | undefined {
  const compatible = new Set(stated.filter((row) => row.oldest_release <= own).map(({ migration }) => migration));
  return newer.find((name) => !compatible.has(name));
}
