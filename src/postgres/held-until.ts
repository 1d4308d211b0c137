/*
 * The functions of this file return SQL for arrays of the times at which holds end, in ascending order. A row that
 * limits the number of holds has such an array, for example a row of `day_counters`.
 *
 * A statement locks this row and counts the holds in its array. A count of rows in the table of holds could be
 * outdated: after PostgreSQL has waited for a row lock, it reads only the locked row again.
 *
 * The SQL uses width_bucket, which returns the number of array elements up to a time. The SQL has no subquery, because
 * Citus rejects some subqueries.
 */

/** Returns SQL for the number of holds that end after `now`. `held` is the column with the times at which holds end. */
export function liveHolds(held: string, now: string): string {
  return `cardinality(${held}) - width_bucket(${now}, ${held})`;
}

/**
 * Returns SQL for the sorted array in the column `held`, with the time `:until` added and all times up to `:now`
 * removed.
 */
export function withHold(held: string): string {
  const [until, now] = [":until::timestamptz", ":now::timestamptz"];
  const place = `width_bucket(${until}, ${held})`;
  return `${held}[width_bucket(${now}, ${held}) + 1 : ${place}] || ${until} || ${held}[${place} + 1 :]`;
}

/**
 * Returns SQL for the array in the column `held` without its first element equal to `:until`. If no element equals
 * `:until`, the array is unchanged.
 */
export function withoutHold(held: string): string {
  const place = `array_position(${held}, :until::timestamptz)`;
  return `coalesce(${held}[: ${place} - 1] || ${held}[${place} + 1 :], ${held})`;
}
