import { runAcrossTenants, type TransactionSource } from "../run-transaction.js";
import { sql } from "../sql.js";
import { servingName } from "./serving-releases.js";

/**
 * Selects a row if a process of a release older than the required release is connected. The application_name of a
 * process is `cupo-jobs` in the earliest releases. In later releases it also shows the last migration, such as
 * `cupo-jobs 0024-partitions`.
 *
 * Parameters: the application_name of the earliest releases, the prefix of the application_name of later releases, and
 * the application_name of the required release.
 */
const OLDER = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
  AND (application_name = ? OR starts_with(application_name, ?) AND application_name < ? COLLATE "C") LIMIT 1`;

/**
 * Returns whether a process of an older release is connected. A release is older if it does not have `migration`. The
 * earliest releases do not show their last migration, and count as older.
 */
export async function isOlderServing(source: TransactionSource, migration: string): Promise<boolean> {
  const prefix = servingName("");
  const bindings = [prefix.trimEnd(), prefix, servingName(migration)];
  const rows = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows(sql.raw(OLDER, bindings)),
  );
  return rows.length > 0;
}
