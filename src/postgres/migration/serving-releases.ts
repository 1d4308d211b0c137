import type { Knex } from "knex";

const PREFIX = "cupo-jobs";

/**
 * Returns the application_name by which a serving process shows its release, such as `cupo-jobs 0024-partitions`.
 * `last` is the last migration of the release.
 */
export function servingName(last: string): string {
  return `${PREFIX} ${last}`;
}

/** How a migration treats releases that are serving, and where it reports. */
export interface UpgradeOptions {
  /** Whether to migrate although a serving release is too old. */
  readonly despiteOlder?: boolean | undefined;
  /** Called with a line about the oldest release that may keep serving, and with a line before each migration. */
  readonly onProgress?: ((text: string) => void) | undefined;
  /**
   * Called with a line in each of these cases. `oldest` is the migration in {@link Upgrade}.
   * - A serving release does not name its last migration in `application_name` ({@link servingName}), and the database
   *   has the migration `oldest`. The release may be too old.
   * - No serving release is found, and the database lacks the migration `oldest`. One of the first releases may be
   *   serving: they cannot be found, and all are too old.
   * - A serving release is too old and `despiteOlder` is set.
   */
  readonly onWarning?: ((text: string) => void) | undefined;
}

/** An upgrade of a database. Processes of older releases may be using the database during the upgrade. */
export interface Upgrade extends UpgradeOptions {
  /** The migrations that the database has. */
  readonly applied: readonly string[];
  /**
   * The oldest release that can serve after the upgrade, by the name of its last migration. Undefined if no migration
   * is pending.
   */
  readonly oldest: string | undefined;
}

/**
 * SQL for the application_names of the processes that serve this database, each name once. A name shows the release of
 * its process ({@link servingName}), except for some older releases. PostgreSQL shows these names to every role.
 */
const SERVING = `SELECT DISTINCT application_name AS name FROM pg_stat_activity
  WHERE datname = current_database() AND (application_name = '${PREFIX}' OR application_name LIKE '${PREFIX} %') ORDER BY 1`;

/**
 * Does nothing if no migration is pending, or if the database has no migration yet. Otherwise calls `onProgress` with a
 * line that names `oldest`. Throws if a serving release is too old: older than the release whose last migration is
 * `oldest`. With `despiteOlder`, calls `onWarning` instead.
 *
 * Two kinds of older releases do not report their last migration:
 * - Some show only that they are connected. If the database lacks the migration `oldest`, the release is too old.
 *   Otherwise it may be too old, and the function calls `onWarning`.
 * - The first releases show nothing. If no release is found and the database lacks the migration `oldest`, the function
 *   calls `onWarning`, because one of the first releases may be serving.
 */
export async function checkServingReleases(database: Knex, upgrade: Upgrade): Promise<void> {
  const { applied, oldest, despiteOlder = false, onProgress, onWarning } = upgrade;
  const newest = applied.toSorted().at(-1);
  if (oldest === undefined || newest === undefined) return;
  onProgress?.(`the oldest release that may keep serving during this upgrade ends with migration ${oldest}`);
  const { rows } = await database.raw<{ rows: { name: string }[] }>(SERVING);
  if (rows.length === 0 && newest < oldest) onWarning?.(unseen(newest, oldest));
  for (const last of rows.map(({ name }) => name.slice(PREFIX.length + 1))) {
    if ((last || newest) < oldest) {
      const seen = tooOld(last || `${newest} or an earlier one`, oldest);
      if (!despiteOlder) throw new Error(`${seen} ${ADVICE}`);
      onWarning?.(seen);
    } else if (last === "") onWarning?.(unnamed(oldest));
  }
}

const ADVICE =
  "Stop its processes and migrate again. Or migrate while its requests fail: node dist/main.js migrate --despite-older";

function tooOld(last: string, oldest: string): string {
  return (
    `A release that ends with migration ${last} serves this database and is too old for this upgrade. The oldest release that ` +
    `may keep serving ends with migration ${oldest}.`
  );
}

function unnamed(oldest: string): string {
  return (
    "A release that does not name its last migration serves this database. " +
    `If it does not have migration ${oldest}, stop it: its requests fail after this upgrade.`
  );
}

function unseen(newest: string, oldest: string): string {
  return (
    `The database is at migration ${newest}. Every release that serves it is too old for this upgrade: the oldest that may keep ` +
    `serving ends with migration ${oldest}. Stop any process of them that still runs, because its requests fail from now on.`
  );
}
