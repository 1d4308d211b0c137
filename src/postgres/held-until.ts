/*
 * SQL for the ends of holds. A row that limits holds keeps their ends in an array, in ascending order. After PostgreSQL
 * waited for a row lock, it checks only that row again, so a count in another table could be outdated. width_bucket
 * returns the number of elements up to an instant. It is built in, so Citus needs no function on its workers. It also
 * needs no subquery, because Citus rejects some.
 */

/** Returns SQL for the number of holds that end after `now`. `held` is the column with the ends of the holds. */
export function liveHolds(held: string, now: string): string {
  return `cardinality(${held}) - width_bucket(${now}, ${held})`;
}

/**
 * Returns SQL that adds the end `:until` to the sorted array in the column `held` and removes all ends up to `:now`.
 */
export function withHold(held: string): string {
  const [until, now] = [":until::timestamptz", ":now::timestamptz"];
  const place = `width_bucket(${until}, ${held})`;
  return `${held}[width_bucket(${now}, ${held}) + 1 : ${place}] || ${until} || ${held}[${place} + 1 :]`;
}

/**
 * Returns SQL that removes one element equal to `:until` from the array in the column `held`. If no element equals
 * `:until`, the array stays unchanged.
 */
export function withoutHold(held: string): string {
  const place = `array_position(${held}, :until::timestamptz)`;
  return `coalesce(${held}[: ${place} - 1] || ${held}[${place} + 1 :], ${held})`;
}
