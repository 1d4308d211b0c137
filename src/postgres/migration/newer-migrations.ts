import type { Knex } from "knex";

const STATED = /^-- Compatible from: (\S+)$/m;

/**
 * The last migration of the oldest release that can work while a migration is applied, as its text states it; undefined where
 * it states none, so that no older release can.
 */
export function oldestReleaseFor(sql: string): string | undefined {
  return STATED.exec(sql)?.[1];
}

/** Keeps what a migration states, for releases that do not have its text. */
export async function recordCompatibility(database: Knex, migration: string, sql: string): Promise<void> {
  const oldest = oldestReleaseFor(sql);
  if (oldest === undefined) return;
  await database("schema_compatibility").insert({ migration, oldest_release: oldest });
}

/**
 * Whether the schema has migrations that this release does not know, as in the middle of a rollout, or behind one that was taken
 * back. Throws where one of them does not say that it goes with this release.
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
  const foreign = incompatibleMigration(newer, stated, own);
  if (foreign === undefined) return true;
  throw new Error(
    `The schema has the migration ${foreign}, with which this release, whose last one is ${own}, cannot work. Start the ` +
      "release that made it, or a newer one.",
  );
}

/** What a migration that was applied states, as a row of `schema_compatibility`. */
export interface Compatibility {
  readonly migration: string;
  readonly oldest_release: string;
}

/**
 * The first of the migrations that a release does not know which does not state that it goes with that release, whose last
 * migration is `own`; undefined where all do.
 */
export function incompatibleMigration(
  newer: readonly string[],
  stated: readonly Compatibility[],
  own: string,
): string | undefined {
  const compatible = new Set(stated.filter((row) => row.oldest_release <= own).map(({ migration }) => migration));
  return newer.find((name) => !compatible.has(name));
}
